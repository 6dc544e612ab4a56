package import Foundation

/// One line that a service wrote.
package struct LogLine: Sendable, Equatable {
    package let service: String
    /// When it began to arrive.
    package let timestamp: Date
    /// Without the line's end; what is not UTF-8 is shown as U+FFFD, while the file keeps the bytes.
    package let text: String
    /// The line is longer than 1 MiB: this is a part of it, and the next one goes on.
    package let continues: Bool

    package init(service: String, timestamp: Date, text: String, continues: Bool = false) {
        self.service = service
        self.timestamp = timestamp
        self.text = text
        self.continues = continues
    }

    /// What one value holds at most, so that a service that never ends its line cannot fill the memory.
    static let maximumLength = 1 << 20

    static let timestampFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
