/// What a journal keeps. Retained documents stay for ever.
package struct RetentionPolicy: Hashable, Sendable {
    /// Older messages go once every durable consumer has handled them; nil to keep them.
    package var age: Duration?
    /// Bytes of the journal's file that are used beside retained documents and dead letters. Beyond it the oldest messages go, handled or not; nil for no limit.
    package var size: Int?

    package init(age: Duration?, size: Int?) {
        self.age = age
        self.size = size
    }

    /// Seven days, 1 GiB.
    package static let standard = RetentionPolicy(age: .seconds(7 * 24 * 60 * 60), size: 1 << 30)
    package static let unlimited = RetentionPolicy(age: nil, size: nil)
}
