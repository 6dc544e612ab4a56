import Logging
import Synchronization

/// Keeps all that is logged, at every level, with all of its metadata.
final class LogTranscript: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(transcript: self) }
    }

    private struct Handler: LogHandler {
        let transcript: LogTranscript
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.level): \(event.message) \(metadata) \(event.metadata ?? [:])"
            transcript.lines.withLock { $0.append(line) }
        }
    }
}
