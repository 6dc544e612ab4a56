package import Logging
internal import Support
internal import Synchronization

/// Records log lines.
package final class LogRecorder: Sendable {
    private let recorded = Mutex<[(line: String, metadata: Logger.Metadata)]>([])
    private let awaited = Mutex<[(text: String, latch: Latch)]>([])

    package init() {}

    package var lines: [String] { recorded.withLock { $0.map(\.line) } }

    /// The number of lines with this text, of any level.
    package func count(of text: String) -> Int { lines.count { $0.hasSuffix(": \(text)") } }

    /// All log lines with their metadata.
    package var text: String { recorded.withLock { $0.map { "\($0.line) \($0.metadata)" }.joined(separator: "\n") } }

    /// Waits until a line with `text` has been logged.
    package func wait(for text: String) async throws {
        let latch = Latch()
        awaited.withLock { $0.append((text, latch)) }
        if self.text.contains(text) { latch.open() }
        try await latch.waitUntilOpen()
    }

    /// The values of a metadata key in the lines with this text.
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
            recorder.awaited.withLock { awaited in
                for (text, latch) in awaited where "\(event.message)".contains(text) { latch.open() }
            }
        }
    }
}

extension Logger {
    /// A logger for tests that do not check the log.
    package static var silent: Logger { Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() } }
}
