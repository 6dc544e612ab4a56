/// The limits of a journal. Retention never removes retained documents and dead letters.
package struct RetentionLimits: Hashable, Sendable {
    /// The maximum age of messages. Older messages are removed after every durable consumer has handled them. Nil for
    /// no limit.
    package var age: Duration?
    /// The maximum number of bytes of the journal, without retained documents and dead letters. Beyond it the oldest
    /// messages are removed, even if they are not handled. Nil for no limit.
    package var size: Int?

    package init(age: Duration?, size: Int?) {
        self.age = age
        self.size = size
    }

    /// Seven days and 1 GiB.
    package static let standard = RetentionLimits(age: .seconds(7 * 24 * 60 * 60), size: 1 << 30)

    /// The end of the messages that are removed. All numbers are offsets, or all are the engine's own.
    /// - Parameters:
    ///   - old: The end of the messages that are too old; nil if there are none, or their age has no limit.
    ///   - handled: The end of the messages that every durable consumer has handled; nil if there is no consumer.
    ///   - tooLarge: The end of the messages that are removed because of the size; nil if it is not exceeded.
    ///   - last: The end of the messages that can be removed.
    /// - Returns: 0 if none is removed.
    package static func end(old: UInt64?, handled: UInt64?, tooLarge: UInt64?, last: UInt64) -> UInt64 {
        min(last, max(min(old ?? 0, handled ?? last), tooLarge ?? 0))
    }
}
