import Foundation
package import Logging

/// Brings a stack up, keeps it up, changes it on request, and takes it down in order.
///
/// All that it does happens within ``run()``; every process that it starts has ended when that returns.
package final class Supervisor: Sendable {
    let project: Project
    let options: SupervisorOptions
    let logger: Logger
    let board: StatusBoard
    let recorder: StatusRecorder

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
        board.update { $0.stop = $0.stop == .none ? .orderly : .immediate }
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
            board.request(.orderly)
        }
    }

    private func superviseAlone() async throws {
        defer { board.close() }
        let launcher = Launcher(environment: options.environment)
        do {
            guard let lock = try ProjectLock.acquire(project) else { throw alreadyRunning() }
            try await supervise(launcher, holding: lock)
        } catch {
            launcher.tell(failure: error)
            throw error
        }
    }

    private func supervise(_ launcher: Launcher, holding lock: consuming ProjectLock) async throws {
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
}
