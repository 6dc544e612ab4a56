/// What a member of a durable consumer owns.
package struct Ownership: Hashable, Sendable {
    /// 0 when there is nothing, or something that it must claim first.
    package let ownerEpoch: UInt64
    /// Up to where each partition is handled.
    package let offsets: [Partition: UInt64]

    package init(ownerEpoch: UInt64, offsets: [Partition: UInt64]) {
        self.ownerEpoch = ownerEpoch
        self.offsets = offsets
    }
}
