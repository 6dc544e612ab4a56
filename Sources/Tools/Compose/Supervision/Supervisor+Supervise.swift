import Logging

extension Supervisor {
    /// One run of the stack, from free ports to an empty runtime directory.
    func supervise(_ launcher: Launcher) async throws {
        project.removeRuntimeDirectory()
        try project.prepare(services: board.view.status.services.map(\.name))
        defer { project.removeRuntimeDirectory() }
        // Before anybody can read from the status that this supervisor is there to be asked.
        let control = try ControlSocket(path: project.controlPath)
        let view = board.view
        try project.save(view.stack)
        board.begin(ports: try LoopbackPorts.pick(for: view.stack.ports))
        recorder.flush()
        launcher.tell(status: board.view.awaited)
        await withTaskGroup { group in
            group.addTask { await self.followPhase(launcher) }
            group.addTask { await self.followSignals() }
            // Before others' work: a process that is not written down is lost if this one is killed.
            group.addTask(priority: .high) { for await _ in self.board.views() { self.recorder.flush() } }
            group.addTask { await ControlServer(socket: control, logger: self.logger).serve(self.answer) }
            await keepInstances()
            group.cancelAll()
        }
        let failure = board.update { view in
            view.status.phase = .stopped
            return view.failure
        }
        recorder.flush()
        if let failure { throw failure }
    }

    /// Returns when no instance has a process any more, and none will have one again.
    private func keepInstances() async {
        await withDiscardingTaskGroup { keepers in
            for await view in board.views() {
                if view.stop != .none { return }
                // Looked at again under the lock: a request may have come meanwhile.
                if view.isOver { board.update { if $0.isOver { $0.stop = max($0.stop, .orderly) } } }
                guard view.status.services.contains(where: { !view.kept.contains($0.name) }) else { continue }
                for name in board.takeUnkept() {
                    let keeper = InstanceKeeper(
                        name: name, project: project, board: board, options: options, logger: logger)
                    keepers.addTask { await keeper.run() }
                }
            }
        }
    }

    /// Derives the project's phase from its services', and tells whoever launched us.
    private func followPhase(_ launcher: Launcher) async {
        var isLaunched = false
        for await view in board.views() {
            let phase = phase(view, isWaiting: !view.lacking(.ready).isEmpty)
            if phase == .starting { launcher.tell(status: view.awaited) }
            if !isLaunched, view.stop == .none, view.lacking(.launched).isEmpty {
                isLaunched = true
                recorder.flush()
                launcher.tellLaunched()
            }
            guard phase != view.status.phase else { continue }
            // Looked at again under the lock: a request to stop may have come meanwhile.
            board.update { $0.status.phase = $0.stop == .none ? phase : .stopping }
            if phase == .up {
                recorder.flush()
                launcher.tellReady()
            }
        }
    }

    private func phase(_ view: Roster, isWaiting: Bool) -> ProjectStatus.Phase {
        if view.stop != .none { return .stopping }
        // Once up it stays so: a service that crashes and is restarted does not put the whole project back.
        return view.status.phase == .up || !isWaiting ? .up : .starting
    }

    private func followSignals() async {
        for await _ in StopSignals.arrivals(of: options.stopSignals) { stop() }
    }
}

extension Roster {
    /// Those that are wanted, and not as far yet.
    fileprivate func lacking(_ milestone: Milestone) -> [String] {
        status.services.filter { $0.order.isWanted && !$0.hasReached(milestone) }.map(\.name)
    }

    /// For whoever watches the start.
    fileprivate var awaited: String {
        let lacking = lacking(.ready)
        return lacking.isEmpty ? "there is nothing to start" : "waiting for \(lacking.joined(separator: ", "))"
    }
}

extension StatusBoard {
    /// The instances that have no keeper yet; the caller gives them one.
    fileprivate func takeUnkept() -> [String] {
        update { roster in
            let names = roster.status.services.map(\.name).filter { !roster.kept.contains($0) }
            roster.kept.formUnion(names)
            return names
        }
    }
}
