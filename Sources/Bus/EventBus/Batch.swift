/// Messages that are journalled all or not at all, with the consumer's progress that produced them.
public struct Batch: Sendable {
    public var messages: [Envelope]
    public var checkpoint: Checkpoint?
    /// Whether the documents among the messages are withdrawn by the bus once the publisher stops answering.
    public var isLeased: Bool

    public init(_ messages: [Envelope], checkpoint: Checkpoint? = nil, isLeased: Bool = false) {
        self.messages = messages
        self.checkpoint = checkpoint
        self.isLeased = isLeased
    }
}
