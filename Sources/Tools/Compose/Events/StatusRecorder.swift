import Foundation
import Logging
import Synchronization

/// Writes down how a project is, for other processes, and each change as an event.
final class StatusRecorder: Sendable {
    /// Events are short: this is some ten thousand of them.
    private static let retention = LogRetention(fileSize: 1 << 20, files: 3)

    private let project: Project
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var last: ProjectStatus?
        /// Opened with the first event: before that the project's folders may not be there, or be another's.
        var events: LogWriter?
        var hasFailed = false
    }

    init(project: Project, logger: Logger) {
        self.project = project
        self.logger = logger
    }

    /// Call it in the order of the changes.
    func record(_ status: ProjectStatus) {
        do {
            try status.write(to: project)
        } catch {
            let metadata: Logger.Metadata = ["path": "\(project.statusPath)", "error": "\(error)"]
            logger.error("cannot write the status", metadata: metadata)
        }
        state.withLock { state in
            let events = ProjectEvent.changes(from: state.last, to: status, at: Date())
            state.last = status
            guard !events.isEmpty else { return }
            do {
                let writer = try state.events ?? LogWriter(project.eventFiles, retention: Self.retention)
                state.events = writer
                try writer.append(events.flatMap { try $0.record() })
            } catch {
                // A full disk is told once.
                if !state.hasFailed { logger.error("cannot write the events", metadata: ["error": "\(error)"]) }
                state.hasFailed = true
            }
        }
    }
}
