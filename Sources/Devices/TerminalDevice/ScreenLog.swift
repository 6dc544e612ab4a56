package import Logging

/// The log of a device that draws on a terminal. The lines become notes below the scene.
package struct ScreenLog: Sendable {
    /// The maximum number of lines that wait to be shown. Older lines are removed.
    private static let limit = 8

    /// The lines, for one reader.
    let lines: AsyncStream<String>
    private let input: AsyncStream<String>.Continuation

    init() {
        (lines, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.limit))
    }

    /// Creates the log handler of a logger.
    package func handler(label: String) -> any LogHandler { Handler(input: input) }

    private struct Handler: LogHandler {
        let input: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = metadata.merging(event.metadata ?? [:]) { $1 }
            let details = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            input.yield("\(event.level): \(event.message)" + (details.isEmpty ? "" : " (\(details))"))
        }
    }
}
