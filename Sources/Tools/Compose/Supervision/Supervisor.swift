import Foundation
import Glibc
package import Logging
import SystemSupport

/// Brings a stack up, keeps it up, changes it on request, and takes it down in order.
///
/// All that it does happens within ``run()``; every process that it starts has ended when that returns.
package final class Supervisor: Sendable {
    private let project: Project
    private let options: SupervisorOptions
    private let logger: Logger
    private let board: StatusBoard
    private let recorder: StatusRecorder

    /// - Parameter selection: which services start; the others can be started later.
    /// - Throws: ``ComposeError`` `invalid-stack`, `unknown-service`.
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
        var roster = try Roster(empty: project)
        _ = try roster.apply(.up(UpRequest(stack: stack, selection: selection)))
        let recorder = StatusRecorder(project: project, logger: logger)
        self.recorder = recorder
        board = StatusBoard(roster) { recorder.record($0) }
    }

    /// How all stands now.
    package var status: ProjectStatus { board.view.status }

    /// How all stands now, then the newest after each change; one who is slow misses those between, never the last.
    /// Other processes can read what comes here.
    package var statuses: some AsyncSequence<ProjectStatus, Never> & Sendable {
        board.views().map { [recorder] view in
            recorder.flush()
            return view.status
        }
    }

    /// Asks for an orderly stop; asked again, skips what is left of everyone's grace.
    package func stop() {
        board.update { $0.request($0.stop == .none ? .orderly : .immediate) }
    }

    /// Returns when all services have ended: because they were asked to, or of themselves. Cancelling is asking.
    ///
    /// One supervisor runs once.
    ///
    /// - Throws: ``ComposeError``: another supervisor is at work, or the stack could not be brought up.
    package func run() async throws {
        try await withTaskCancellationHandler {
            // Subprocess kills a child whose task is cancelled at once. An orderly stop takes longer, so nothing below
            // is cancelled: it is a task of its own, awaited here and thereby owned.
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
            launcher.tell(failure: error)
            throw error
        }
    }

    private func supervise(_ launcher: Launcher, holding lock: FileLock) async throws {
        // First, for they are found by what the killed supervisor wrote, in whose place we then write.
        try await project.stopLeftovers(logger: logger)
        try await supervise(launcher)
        lock.release()
    }

    private func alreadyRunning() -> ComposeError {
        let pid = (try? ProjectStatus.read(project))?.map { " (pid \($0.supervisor.pid))" } ?? ""
        return ComposeError(
            code: "already-running",
            message: "project '\(project.name)' is already running\(pid)",
            recovery: "change it with 'segue up -d', take it down first, or use another name with -p"
        )
    }

    /// One run of the stack, from free ports to an empty runtime directory.
    private func supervise(_ launcher: Launcher) async throws {
        project.removeRuntimeDirectory()
        try project.prepare(services: board.view.status.services.map(\.name))
        defer { project.removeRuntimeDirectory() }
        // Before anybody can read from the status that this supervisor is there to be asked.
        let control = try ControlServer(path: project.controlPath, logger: logger)
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
            group.addTask { await control.serve(self.answer) }
            await keepInstances()
            group.cancelAll()
        }
        let failure = board.update { $0.finish() }
        recorder.flush()
        if let failure { throw failure }
    }

    /// Returns when no instance has a process any more, and none will have one again.
    private func keepInstances() async {
        await withDiscardingTaskGroup { keepers in
            for await view in board.views() {
                if view.stop != .none { return }
                // Looked at again under the lock: a request may have come meanwhile.
                if view.isOver { board.update { $0.stopIfOver() } }
                guard view.hasUnkept else { continue }
                for name in board.update({ $0.takeUnkept() }) {
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
            let phase = view.phase
            if phase == .starting { launcher.tell(status: view.awaited) }
            if !isLaunched, view.stop == .none, view.lacking(.launched).isEmpty {
                isLaunched = true
                recorder.flush()
                launcher.tellLaunched()
            }
            guard phase != view.status.phase else { continue }
            board.update { $0.enter(phase) }
            if phase == .up {
                recorder.flush()
                launcher.tellReady()
            }
        }
    }

    private func followSignals() async {
        for await _ in ShutdownSignals.arrivals(of: options.stopSignals) { stop() }
    }

    /// Does what was asked for as far as it can be done at once: it gives the orders and does not wait for what follows.
    ///
    /// - Parameter isRehearsal: whether to tell only what would be done.
    /// - Returns: what becomes of each instance; ``ProjectStatus/outcome(of:isReadyEnough:)`` tells how far it is.
    /// - Throws: ``ComposeError``; nothing has changed then.
    @discardableResult
    package func perform(_ request: ControlRequest, isRehearsal: Bool = false) throws(ComposeError) -> [Change] {
        if isRehearsal {
            var roster = board.view
            return try roster.apply(request)
        }
        if case .up(let request) = request { try offerPorts(request.stack.ports) }
        let changes = try board.update { roster throws(ComposeError) in
            let before = roster.stack
            let changes = try roster.apply(request)
            try self.project.prepare(services: roster.status.services.map(\.name))
            if roster.stack != before { try self.project.save(roster.stack) }
            return changes
        }
        // Whoever has asked may look at once.
        recorder.flush()
        if case .kill(_, let signal) = request { send(signal, to: changes.map(\.instance)) }
        return changes
    }

    func answer(_ call: ControlCall) -> ControlReply {
        do throws(ComposeError) {
            return .done(try perform(call.request, isRehearsal: call.isRehearsal))
        } catch {
            return .refused(error)
        }
    }

    private func offerPorts(_ names: [String]) throws(ComposeError) {
        let picked = board.view.status.ports
        let ports = try LoopbackPorts.pick(for: names.filter { picked[$0] == nil })
        if !ports.isEmpty { board.update { $0.offer(ports) } }
    }

    /// To the leader alone, by a handle that means no other process, even if it ends at this moment.
    private func send(_ signal: Int32, to instances: [String]) {
        let view = board.view
        for name in instances { view[name]?.process?.open()?.send(signal) }
    }
}

/// How a ``Supervisor`` goes about its work.
package struct SupervisorOptions: Sendable {
    /// What the services inherit, and where `PATH` and a launcher's `NOTIFY_SOCKET` are read.
    package var environment: [String: String]
    /// Where bare command names are looked for before `PATH`.
    package var executableDirectory: String?
    /// How long a service may take to become ready, unless it says otherwise.
    package var startTimeout: Duration
    package var backoff: RestartBackoff
    /// How much of each service's output is kept.
    package var logs: LogRetention
    /// How long a service may take to end when it is asked to, whatever it says itself.
    package var stopGrace: Duration?
    /// Whether all is stopped as soon as one service has failed for good.
    package var abortsOnFailure: Bool
    /// Signals to the supervisor's process that ask it to stop: the first orderly, the second at once.
    package var stopSignals: [Int32]

    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        executableDirectory: String? = SupervisorOptions.runningExecutableDirectory,
        startTimeout: Duration = Self.usualStartTimeout,
        backoff: RestartBackoff = RestartBackoff(),
        logs: LogRetention = LogRetention(),
        stopGrace: Duration? = nil,
        abortsOnFailure: Bool = false,
        stopSignals: [Int32] = []
    ) {
        self.environment = environment
        self.executableDirectory = executableDirectory
        self.startTimeout = startTimeout
        self.backoff = backoff
        self.logs = logs
        self.stopGrace = stopGrace
        self.abortsOnFailure = abortsOnFailure
        self.stopSignals = stopSignals
    }

    package static let usualStartTimeout = Duration.seconds(30)

    /// The folder of the executable that runs now.
    package static var runningExecutableDirectory: String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path.map { ($0 as NSString).deletingLastPathComponent }
    }
}
