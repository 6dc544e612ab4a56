/// The state of a durable consumer on the bus, whether or not a process runs the consumer.
public struct DurableConsumer: Hashable, Sendable {
    public let name: String
    /// The position up to which the consumer has handled all its messages.
    public let position: Position
    /// The end of the journal when the consumer was looked up.
    public let end: Position
    /// The number of members that share the consumer now. An exclusive owner is not counted.
    public let memberCount: Int

    package init(name: String, position: Position, end: Position, memberCount: Int) {
        self.name = name
        self.position = position
        self.end = end
        self.memberCount = memberCount
    }
}

/// The way in which a process shares a durable consumer with other processes.
package enum ConsumerMode: Hashable, Sendable {
    /// The newest member owns all partitions; the previous one is fenced. The newest member is the one whose first
    /// claim reached the bus last.
    case exclusive
    /// The members that are alive share the partitions.
    case shared
}
