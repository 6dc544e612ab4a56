internal import EventBus

/// What retention took away before a consumer had handled it, and whether the consumer knows.
struct CutOffRow: Equatable {
    let cutOff: CutOff
    /// Of the claim that was told; 0 for none yet.
    let ownerEpoch: UInt64
}
