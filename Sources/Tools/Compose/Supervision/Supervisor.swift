import Foundation
import Glibc
package import Logging
import Support
import SystemSupport

/// Starts a stack, keeps it running, changes it on request, and stops it in order.
///
/// When ``run()`` returns, no process is left in the sessions of its services.
package final class Supervisor: Sendable {
    private let project: Project
    private let options: SupervisorOptions
    private let logger: Logger
    private let board: StatusBoard
    private let recorder: StatusRecorder
    private let clock = RunningClock()
    /// Requests are carried out one after the other. They write files, which can block.
    private let executor = BlockingExecutor("requests")

    /// - Parameter selection: the services to start; the others can be started later.
    /// - Throws: ``ComposeError`` `invalid-stack`, `unknown-service`, `no-proc`.
    package init(
        stack: Stack,
        selection: Selection = .all,
        project: Project,
        options: SupervisorOptions = SupervisorOptions(),
        logger: Logger
    ) throws(ComposeError) {
        self.project = project
        self.options = options
        self.logger = logger
        var roster = try Roster(empty: project, rule: options.failures)
        _ = try roster.apply(.up(UpRequest(stack: stack, selection: selection)))
        let recorder = StatusRecorder(project: project, logger: logger)
        self.recorder = recorder
        board = StatusBoard(roster) { recorder.record($0) }
    }

    /// The current status.
    package var status: ProjectStatus { board.view.status }

    /// The current status, then the newest status after each change. A slow reader misses statuses in between.
    package var statuses: some AsyncSequence<ProjectStatus, Never> & Sendable {
        board.views().map { [recorder] view in
            await recorder.flush()
            return view.status
        }
    }

    /// Requests an orderly stop, or an immediate stop if a stop has been requested before.
    package func stop() {
        board.update { $0.request($0.stop == .none ? .orderly : .immediate) }
    }

    /// Runs the stack; returns when all services have ended, by request or by themselves. Cancelling the task requests
    /// an orderly stop.
    ///
    /// Call this function only once.
    ///
    /// - Throws: ``ComposeError``: `already-running` if another process holds the project's lock; otherwise the error
    ///   that prevented the start of the stack, or that stopped it.
    package func run() async throws {
        try await withTaskCancellationHandler {
            // Subprocess kills a child if its task is cancelled. So the work is in a task of its own, which is not
            // cancelled; this function waits for it.
            try await Task { try await superviseAlone() }.value
        } onCancel: {
            board.update { $0.request(.orderly) }
        }
    }

    private func superviseAlone() async throws {
        defer { board.close() }
        let launcher = Launcher(environment: options.environment)
        do {
            guard let lock = try project.lock() else { throw alreadyRunning() }
            try await supervise(launcher, holding: lock)
        } catch {
            await launcher.tell(failure: error)
            throw error
        }
    }

    private func supervise(_ launcher: Launcher, holding lock: FileLock) async throws {
        // This is done first, because this supervisor overwrites the status of the killed supervisor.
        try await Leftovers(project: project).stop(logger: logger)
        try await supervise(launcher)
        lock.release()
    }

    private func alreadyRunning() -> ComposeError {
        let pid = (try? ProjectStatus.read(project))?.map { " (pid \($0.supervisor.pid))" } ?? ""
        return ComposeError(
            code: "already-running",
            message: "project '\(project.name)' is already running\(pid)",
            recovery: "change it with 'segue up -d', stop it with 'segue down', or choose another name with -p"
        )
    }

    /// Runs the stack: from the creation of its folders to the removal of its runtime folder.
    private func supervise(_ launcher: Launcher) async throws {
        DescriptorLimit.raise()
        let view = board.view
        try view.checkDescriptors()
        try await executor.run { [project] in
            Result { () throws(ComposeError) in
                try project.removeRuntimeDirectory()
                try project.prepare(services: view.status.services.map(\.name))
                try project.save(view.stack)
            }
        }.get()
        defer { try? project.removeRuntimeDirectory() }
        // The control server is created before the status names this supervisor. From then on, other processes may send
        // requests.
        let control = try ControlServer(path: project.controlPath, logger: logger)
        let ports = try LoopbackPort.pick(for: view.stack.ports)
        let bus = OfferedVariables.address(view.stack.bus, ports: ports)
        try project.announce(bus: bus, keys: view.stack.keys)
        board.begin(ports: ports, bus: bus ?? project.ownBusAddress)
        await recorder.flush()
        await launcher.tell(status: board.view.awaited)
        await withTaskGroup { group in
            group.addTask { await self.followPhase(launcher) }
            group.addTask { await self.followSignals() }
            group.addTask { await self.followOwner() }
            group.addTask(priority: .high) { await self.clock.tick() }
            group.addTask { for await _ in self.board.views() { await self.recorder.flush() } }
            group.addTask { await control.serve(self.answer) }
            await keepInstances()
            group.cancelAll()
        }
        let failure = board.update { $0.finish() }
        await recorder.flush()
        if let failure { throw failure }
    }

    /// Starts an ``InstanceKeeper`` for each instance; returns when no instance has a process or will get one.
    private func keepInstances() async {
        await withDiscardingTaskGroup { keepers in
            for await view in board.views() {
                if view.stop != .none { return }
                // `stopIfOver` checks again under the lock, because a request may have come meanwhile.
                if view.isOver { board.update { $0.stopIfOver() } }
                guard view.hasUnkept else { continue }
                for name in board.update({ $0.claimUnkept() }) {
                    let keeper = InstanceKeeper(
                        name: name, project: project, board: board, options: options, clock: clock, executor: executor,
                        logger: logger)
                    keepers.addTask { await keeper.run() }
                }
            }
        }
    }

    /// Derives the project's phase from the states of its services, and informs the launcher.
    private func followPhase(_ launcher: Launcher) async {
        var isLaunched = false
        for await view in board.views() {
            let phase = view.phase
            if phase == .starting { await launcher.tell(status: view.awaited) }
            // An update wakes this loop, too, so it is not made at each turn.
            let mayBeLaunched = !isLaunched && view.stop == .none && view.lacking(.launched).isEmpty
            if mayBeLaunched, board.update({ $0.complete(.launched) }) {
                isLaunched = true
                await recorder.flush()
                await launcher.tellLaunched()
            }
            guard phase != view.status.phase else { continue }
            board.update { $0.enter(phase) }
            if phase == .up {
                await recorder.flush()
                await launcher.tellReady()
            }
        }
    }

    private func followSignals() async {
        for await _ in ShutdownSignals.arrivals(of: options.stopSignals) { stop() }
    }

    /// Stops when the process in ``SupervisorOptions/ownerVariable`` has ended.
    private func followOwner() async {
        let words = options.environment[SupervisorOptions.ownerVariable]?.split(scalar: " ") ?? []
        guard let pid = words.first.flatMap({ pid_t($0) }) else { return }
        let owner = ProcessIdentity(of: pid)
        // A process with another start time was given the id after the owner had ended.
        let isOwner = words.count < 2 || owner.map { words[1] == "\($0.startTime)" } ?? false
        if isOwner, let owner {
            if let handle = owner.open() {
                await handle.waitForExit()
            } else if owner.isAlive {
                // The system has no handles for processes.
                return
            }
        }
        guard !Task.isCancelled else { return }
        logger.notice("the process \(pid) has ended, so the project is stopped")
        stop()
    }

    /// Carries out a request, but does not wait for its effects: it sets the orders of the instances.
    ///
    /// - Parameter isRehearsal: true to return the changes that the request would make, without making them.
    /// - Returns: the change for each instance. ``ProjectStatus/outcome(of:until:)`` gives the progress of a change.
    /// - Throws: ``ComposeError``. No instance's order has then changed.
    @discardableResult
    package func perform(
        _ request: ControlRequest, isRehearsal: Bool = false
    ) async throws(ComposeError) -> [Change] {
        try await perform(request, isRehearsal: isRehearsal, before: nil)
    }

    private func perform(
        _ request: ControlRequest, isRehearsal: Bool, before deadline: ContinuousClock.Instant?
    ) async throws(ComposeError) -> [Change] {
        let changes = try await executor.run {
            Result { () throws(ComposeError) in
                if let deadline, ContinuousClock.now >= deadline { throw Self.late }
                return try self.carryOut(request, isRehearsal: isRehearsal)
            }
        }.get()
        // The process that sent the request may read the status at once.
        await recorder.flush()
        if !isRehearsal, case .kill(_, let signal) = request { send(signal, to: changes.map(\.instance)) }
        return changes
    }

    private static let late = ComposeError(
        code: "control-late", message: "the request came too late, and was not carried out", recovery: "try again")

    /// Applies a request to a copy of the roster, writes the files, then applies the request to the roster itself.
    private func carryOut(_ request: ControlRequest, isRehearsal: Bool) throws(ComposeError) -> [Change] {
        var roster = board.view
        let before = roster.stack
        let edits = if case .up = request { roster.files.compactMapValues(\.change) } else { [String: String]() }
        let changes = try roster.apply(request, edits: edits)
        try roster.checkDescriptors()
        if case .up(let request) = request, (request.stack.bus, request.stack.keys) != (before.bus, before.keys) {
            throw ComposeError(
                code: "bus-changed",
                message: "project '\(project.name)' runs with another bus, or other keys, than its file names now",
                recovery: "stop it with 'segue down', then start it again")
        }
        if isRehearsal { return changes }
        if case .up(let request) = request { try offerPorts(request.stack.ports) }
        try project.prepare(services: roster.status.services.map(\.name))
        let isChanged = roster.stack != before
        if isChanged { try project.save(roster.stack) }
        do {
            return try board.update { roster throws(ComposeError) in try roster.apply(request, edits: edits) }
        } catch {
            // The project has begun to stop meanwhile.
            if isChanged { try project.save(before) }
            throw error
        }
    }

    func answer(_ call: ControlCall) async -> ControlReply {
        do throws(ComposeError) {
            return .done(
                try await perform(call.request, isRehearsal: call.isRehearsal, before: call.deadline))
        } catch {
            return .refused(error)
        }
    }

    private func offerPorts(_ names: [String]) throws(ComposeError) {
        let picked = board.view.status.ports
        let ports = try LoopbackPort.pick(for: names.filter { picked[$0] == nil })
        if !ports.isEmpty { board.update { $0.offer(ports) } }
    }

    /// Sends a signal to the main process of each instance, and to no other process.
    private func send(_ signal: Int32, to instances: [String]) {
        let view = board.view
        for name in instances { view[name]?.process?.open()?.send(signal) }
    }
}

/// The options of a ``Supervisor``.
package struct SupervisorOptions: Sendable {
    /// The environment variable with the id of the process with which the project ends, and optionally a space and the
    /// start time of that process. A test that is killed can stop nothing, so a supervisor in the background would
    /// outlive it.
    package static let ownerVariable = "SEGUE_OWNER_PID"

    /// The value of ``ownerVariable`` for this process, with its start time.
    package static var ownerValue: String {
        ["\(getpid())", ProcessIdentity(of: getpid()).map { "\($0.startTime)" }].compactMap(\.self)
            .joined(separator: " ")
    }

    /// The environment that the services inherit. The launcher's `NOTIFY_SOCKET` is read from it, too.
    package var environment: [String: String]
    /// The folder in which bare command names are searched for before `PATH`; nil for none.
    package var executableDirectory: String?
    /// The maximum time for a service to become ready, unless the service sets its own. After it, the service's start
    /// has failed.
    package var startTimeout: Duration
    package var backoff: RestartBackoff
    /// The limits of the log of each instance.
    package var logs: LogRetention
    /// The grace period of all services, in place of their own grace periods, unless a request sets one. Nil to use
    /// each service's own.
    package var stopGrace: Duration?
    package var failures: FailureRule
    /// The signals at whose arrival the supervisor calls ``Supervisor/stop()``.
    package var stopSignals: [Int32]

    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        executableDirectory: String? = InstalledFiles.programFolder,
        startTimeout: Duration = Self.usualStartTimeout,
        backoff: RestartBackoff = RestartBackoff(),
        logs: LogRetention = LogRetention(),
        stopGrace: Duration? = nil,
        failures: FailureRule = FailureRule(),
        stopSignals: [Int32] = []
    ) {
        self.environment = environment
        self.executableDirectory = executableDirectory
        self.startTimeout = startTimeout
        self.backoff = backoff
        self.logs = logs
        self.stopGrace = stopGrace
        self.failures = failures
        self.stopSignals = stopSignals
    }

    package static let usualStartTimeout = Duration.seconds(30)
}
