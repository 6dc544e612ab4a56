/// How far a durable consumer has come. It counts only while the claim behind it is the newest one.
public struct Checkpoint: Hashable, Sendable {
    public let claim: ConsumerClaim
    /// Everything up to here is handled.
    public let position: Position

    public init(claim: ConsumerClaim, position: Position) {
        self.claim = claim
        self.position = position
    }
}
