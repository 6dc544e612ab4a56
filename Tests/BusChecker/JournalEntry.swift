/// A message as the journal has it at the end.
package struct JournalEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// What a publisher sent.
        case value(Value)
        /// What a durable consumer committed for one input.
        case result(group: String, input: Value)
    }

    package let offset: UInt64
    /// The messages among which the bus promises an order to readers: those of one type and subject.
    package let stream: String
    package let content: Content

    package init(offset: UInt64, stream: String, content: Content) {
        self.offset = offset
        self.stream = stream
        self.content = content
    }
}

extension JournalEntry {
    /// What a publisher sent; nil for a result.
    package var value: Value? {
        if case .value(let value) = content { value } else { nil }
    }
}
