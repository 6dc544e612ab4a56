/// What a program with a valid key can do to take the broker from the others.
package enum Attack: String, CaseIterable, Sendable {
    /// Batches as fast as the broker accepts them, over many connections.
    case batches
    /// Documents of 4 MiB, each with another name.
    case documents
    /// Messages of types that nobody has used before.
    case topics
    /// Pages of messages that match nothing, so that the broker scans the journal.
    case scans
    /// Pages that are asked for and never read.
    case unread
    /// Connections that are opened and say one thing.
    case connections
    /// Connections that are opened, and closed again.
    case handshakes
    /// Subscriptions without number.
    case subscriptions
    /// Processes that say hello, each as another producer.
    case producers
    /// Durable consumers, each with another name.
    case consumers
    /// Queries that nobody answers: the attacker serves their type itself.
    case queries
}
