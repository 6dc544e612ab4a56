package import Logging
internal import Synchronization

/// Keeps what is logged.
package final class LogRecorder: Sendable {
    private let recorded = Mutex<[(line: String, metadata: Logger.Metadata)]>([])

    package init() {}

    package var lines: [String] { recorded.withLock { $0.map(\.line) } }

    /// All that was logged, with all of its metadata.
    package var text: String { recorded.withLock { $0.map { "\($0.line) \($0.metadata)" }.joined(separator: "\n") } }

    /// What the lines that say this carry under a key.
    package func metadata(_ key: String, of line: String) -> [String] {
        recorded.withLock { $0.filter { $0.line == line }.compactMap { $0.metadata[key]?.description } }
    }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(recorder: self) }
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            recorder.recorded.withLock {
                $0.append(("\(event.level): \(event.message)", metadata.merging(event.metadata ?? [:]) { $1 }))
            }
        }
    }
}

extension Logger {
    /// For tests whose log nobody reads.
    package static var silent: Logger { Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() } }
}
