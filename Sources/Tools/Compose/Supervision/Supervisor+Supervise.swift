import Logging

extension Supervisor {
    /// One run of the stack, from free ports to an empty runtime directory.
    func supervise(_ launcher: Launcher) async throws {
        project.removeRuntimeDirectory()
        try project.prepare(services: stack.services.map(\.name))
        defer { project.removeRuntimeDirectory() }
        let ports = try LoopbackPorts.pick(for: stack.ports)
        let runners = try runners(ports: ports)
        board.begin(ports: ports)
        launcher.tell(status: "starting")
        await withTaskGroup { group in
            group.addTask { await self.followPhase(launcher) }
            group.addTask { await self.followSignals() }
            await withTaskGroup { services in
                for runner in runners { services.addTask { await runner.run() } }
            }
            group.cancelAll()
        }
        let failure = board.update { view in
            view.status.phase = .stopped
            return view.failure
        }
        if let failure { throw failure }
    }

    private func runners(ports: [String: Int]) throws(ComposeError) -> [ServiceRunner] {
        var runners: [ServiceRunner] = []
        for service in stack.services {
            let offered = OfferedVariables(project: project, ports: ports, service: service.name)
            let environment = ServiceEnvironment(project: project, offered: offered, inherited: options.environment)
            let service = offered.expanded(service)
            runners.append(
                ServiceRunner(
                    service: service,
                    stack: stack,
                    project: project,
                    board: board,
                    log: try ServiceLog(
                        service: service.name, files: project.logFiles(of: service.name), retention: options.logs,
                        logger: logger),
                    variables: environment.variables(for: service),
                    options: options,
                    logger: logger
                )
            )
        }
        return runners
    }

    /// Derives the project's phase from its services', and tells whoever launched us.
    private func followPhase(_ launcher: Launcher) async {
        for await view in board.views() {
            let waiting = stack.services.filter { !isUp(view.status[$0.name], $0) }.map(\.name)
            let phase = phase(view, isWaiting: !waiting.isEmpty)
            if phase == .starting { launcher.tell(status: "waiting for \(waiting.joined(separator: ", "))") }
            guard phase != view.status.phase else { continue }
            // Looked at again under the lock: a request to stop may have come meanwhile.
            board.update { $0.status.phase = $0.stop == .none ? phase : .stopping }
            if phase == .up { launcher.tellReady() }
        }
    }

    private func phase(_ view: StatusBoard.View, isWaiting: Bool) -> ProjectStatus.Phase {
        if view.stop != .none { return .stopping }
        // Once up it stays so: a service that crashes and is restarted does not put the whole project back.
        return view.status.phase == .up || !isWaiting ? .up : .starting
    }

    private func isUp(_ status: ServiceStatus?, _ service: Service) -> Bool {
        guard let status else { return false }
        return stack.awaitsReadiness(of: service)
            ? status.state == .ready || status.isFinished
            : status.startedAt != nil
    }

    private func followSignals() async {
        for await _ in StopSignals.arrivals(of: options.stopSignals) { stop() }
    }
}
