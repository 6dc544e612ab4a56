internal import Synchronization

/// The oldest message that the owner of a claim has taken and not finished.
///
/// The owner writes it, and the bus reads it on its own thread: progress that is recorded for all partitions of the claim must
/// stay below this message.
public final class ConsumerProgress: Sendable {
    private let oldest = Mutex<UInt64?>(nil)

    public init() {}

    /// The offset of the oldest unfinished message; `nil` while there is none.
    public var oldestUnfinished: UInt64? {
        get { oldest.withLock(\.self) }
        set { oldest.withLock { $0 = newValue } }
    }

    /// The offset up to which everything is handled when everything up to `offset` has been delivered.
    public func settled(delivered offset: UInt64) -> UInt64 {
        oldestUnfinished.map { min($0 - 1, offset) } ?? offset
    }
}
