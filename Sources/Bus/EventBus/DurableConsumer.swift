/// A durable consumer as the bus keeps it, whether or not a process runs it.
public struct DurableConsumer: Hashable, Sendable {
    public let name: String
    /// Everything that concerns the consumer is handled up to here.
    public let position: Position
    /// The end of the journal when the consumer was looked up.
    public let end: Position
    /// The number of members that share the consumer now. An exclusive owner is not counted.
    public let memberCount: Int

    public init(name: String, position: Position, end: Position, memberCount: Int) {
        self.name = name
        self.position = position
        self.end = end
        self.memberCount = memberCount
    }

    /// The number of offsets between the consumer's position and the end of the journal, whatever the types of the messages
    /// there.
    public var lag: UInt64 { end.offset - min(position.offset, end.offset) }
}
