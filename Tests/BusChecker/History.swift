/// What everybody involved in a run saw of it.
package struct History: Sendable {
    /// A message that was handed to the bus.
    package struct Invocation: Hashable, Sendable {
        package let value: Value
        package let subject: String

        package init(_ value: Value, subject: String) {
            self.value = value
            self.subject = subject
        }
    }

    /// A message that the journal holds.
    package struct Entry: Hashable, Sendable {
        package let value: Value
        package let offset: UInt64

        package init(_ value: Value, offset: UInt64) {
            self.value = value
            self.offset = offset
        }
    }

    /// In the order in which each publisher handed them over. Unacknowledged ones may have become part of the journal or not.
    package var invoked: [Invocation] = []
    package var acknowledged: Set<Value> = []
    /// As a reader from the beginning saw it.
    package var journal: [Entry] = []
    /// What each subscriber saw, in its order; each subscribed to everything from the beginning.
    package var subscribers: [String: [Value]] = [:]
    /// The input that each committed result names, by durable consumer.
    package var handled: [String: [Value]] = [:]

    package init() {}
}
