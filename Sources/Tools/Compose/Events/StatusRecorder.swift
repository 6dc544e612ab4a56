import Foundation
import Logging
import Synchronization

/// Writes down how a project is, for other processes, and each change as an event.
///
/// The status is written as a whole. If each change were written, a start would cost the square of its instances; so
/// what has come together since the last time is written together. Whoever tells somebody of a change has it written
/// first, so that nobody looks and does not find it.
final class StatusRecorder: Sendable {
    /// Events are short: this is some ten thousand of them.
    private static let retention = LogRetention(fileSize: 1 << 20, files: 3)

    private struct State {
        var last: ProjectStatus?
        var isWritten = true
        /// Those that are not written yet.
        var events: [ProjectEvent] = []
    }

    private struct Files {
        /// Opened with the first event: before that the project's folders may not be there, or be another's.
        var events: LogWriter?
        var hasFailed = false
    }

    private let project: Project
    private let logger: Logger
    private let state = Mutex(State())
    /// Held while they are written, so that nothing takes the place of what is newer.
    private let files = Mutex(Files())

    init(project: Project, logger: Logger) {
        self.project = project
        self.logger = logger
    }

    /// Call it in the order of the changes.
    func record(_ status: ProjectStatus) {
        state.withLock { state in
            state.events += ProjectEvent.changes(from: state.last, to: status, at: Date())
            state.last = status
            state.isWritten = false
        }
    }

    /// Returns when all that has been recorded is written.
    func flush() {
        files.withLock { files in
            let (status, events) = state.withLock { state in
                defer { (state.isWritten, state.events) = (true, []) }
                return (state.isWritten ? nil : state.last, state.events)
            }
            // First the status: who hears of an event finds it there.
            if let status { write(status) }
            if !events.isEmpty { append(events, to: &files) }
        }
    }

    private func write(_ status: ProjectStatus) {
        do {
            try status.write(to: project)
        } catch {
            let metadata: Logger.Metadata = ["path": "\(project.statusPath)", "error": "\(error)"]
            logger.error("cannot write the status", metadata: metadata)
        }
    }

    private func append(_ events: [ProjectEvent], to files: inout Files) {
        do {
            let writer = try files.events ?? LogWriter(project.eventFiles, retention: Self.retention)
            files.events = writer
            try writer.append(events.flatMap { try $0.record() })
        } catch {
            // A full disk is told once.
            if !files.hasFailed { logger.error("cannot write the events", metadata: ["error": "\(error)"]) }
            files.hasFailed = true
        }
    }
}
