import Foundation
import Logging
import Synchronization
import SystemSupport

/// Writes a project's status to its files, for other processes, and each change to the event log.
///
/// ``record(_:)`` collects changes, and ``flush()`` writes them. Call ``flush()`` before another process is informed of
/// a change.
final class StatusRecorder: Sendable {
    private static let retention = LogRetention(fileSize: 1 << 20, files: 3)

    private struct State {
        var last: ProjectStatus?
        var isWritten = true
        /// The events that are not written yet.
        var events: [ProjectEvent] = []
    }

    private struct Files {
        /// Nil until the first event is written.
        var events: LogWriter?
        /// The paths that could not be written. An error is logged once for each path.
        var failed: Set<String> = []
    }

    private let project: Project
    private let logger: Logger
    private let state = Mutex(State())
    /// Locked while the files are written, so that an older status cannot overwrite a newer status.
    private let files = Mutex(Files())
    private let executor = BlockingExecutor("status")

    init(project: Project, logger: Logger) {
        self.project = project
        self.logger = logger
    }

    /// Records a status; the next ``flush()`` writes the newest. Call this in the order of the changes.
    func record(_ status: ProjectStatus) {
        state.withLock { state in
            state.events += ProjectEvent.changes(from: state.last, to: status, at: Date())
            state.last = status
            state.isWritten = false
        }
    }

    /// Writes the newest recorded status and all recorded events. Logs an error if it cannot write them.
    func flush() async {
        await executor.run { self.write() }
    }

    private func write() {
        files.withLock { files in
            let (status, events) = state.withLock { state in
                defer { (state.isWritten, state.events) = (true, []) }
                return (state.isWritten ? nil : state.last, state.events)
            }
            // The status comes first, so that a process that reads an event also finds its effect in the status.
            if let status { write(status, to: &files) }
            if !events.isEmpty { append(events, to: &files) }
        }
    }

    /// Replaces the files atomically, so that a reader never sees half of them.
    private func write(_ status: ProjectStatus, to files: inout Files) {
        for path in [project.runningStatusPath, project.statusPath] {
            do {
                if path == project.runningStatusPath { try project.runtimeFolder() }
                try AtomicFile(path).replace(with: status.text, isDurable: false)
            } catch {
                report(error, at: path, in: &files)
            }
        }
    }

    private func report(_ error: any Error, at path: String, in files: inout Files) {
        guard files.failed.insert(path).inserted else { return }
        logger.error("cannot write the status or the events", metadata: ["path": "\(path)", "error": "\(error)"])
    }

    private func append(_ events: [ProjectEvent], to files: inout Files) {
        do {
            let writer = try files.events ?? LogWriter(project.eventFiles, retention: Self.retention)
            files.events = writer
            try writer.append(events.flatMap { try $0.record() })
        } catch {
            report(error, at: project.eventDirectory, in: &files)
        }
    }
}
