/// The right to consume under a durable name. A later claim of the same name fences this one.
public struct ConsumerClaim: Hashable, Sendable {
    public let consumer: String
    /// Grows with every claim of this name.
    public let ownerEpoch: UInt64
    /// Where the last owner got to; offset 0 if there was none.
    public let position: Position

    public init(consumer: String, ownerEpoch: UInt64, position: Position) {
        self.consumer = consumer
        self.ownerEpoch = ownerEpoch
        self.position = position
    }
}
