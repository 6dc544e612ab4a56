internal import EventBus
internal import Foundation

/// The last line of a recording that was ended in order: without it, messages may be missing.
package struct RecordingEnd: Codable, Hashable, Sendable {
    static let mark = "end"

    private let segue: String
    /// How many there are.
    package let messages: Int
    /// When it was ended, as RFC 3339 says it.
    package let ended: String

    package init(messages: Int) {
        segue = Self.mark
        self.messages = messages
        ended = Timestamp.text(of: Date())
    }
}
