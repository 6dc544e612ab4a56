package import Foundation

/// One line that a service wrote.
package struct LogLine: Sendable, Equatable {
    package enum Stream: String, Sendable, Codable {
        case stdout
        case stderr
        /// Of the log itself, as of lines that could not be kept.
        case notice
    }

    /// The instance that wrote it.
    package let service: String
    /// When it was complete, to the millisecond.
    package let timestamp: Date
    package let stream: Stream
    /// Without the line's end; what is not UTF-8 is shown as U+FFFD, while the file keeps the bytes.
    package let text: String
    /// The line is longer than 1 MiB: this is a part of it, and the next one of the same stream goes on.
    package let continues: Bool

    package init(
        service: String, timestamp: Date, stream: Stream = .stdout, text: String, continues: Bool = false
    ) {
        self.service = service
        self.timestamp = timestamp
        self.stream = stream
        self.text = text
        self.continues = continues
    }

    /// What one value holds at most, so that a service that never ends its line cannot fill the memory.
    static let maximumLength = 1 << 20
}
