/// A request of a durable consumer that no bus admits.
package struct LedgerRefusal: Error, Hashable, Sendable {
    package enum Reason: Sendable {
        /// The position is not one of this journal, or the claim has ended and its member can claim again.
        case epoch
        /// The claim no longer owns the partition.
        case fenced
        /// The previous checkpoint of the partition is not recorded.
        case unrecorded
        /// A limit of the consumers or of their members is reached.
        case full
        /// A process runs the consumer that is to be removed, or may run it.
        case inUse
    }

    package let reason: Reason
    package let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    package init(takenOver consumer: String) {
        self.init(.fenced, "another process has taken over the durable consumer '\(consumer)'")
    }

    /// See ``ClaimState/ended``.
    package init(ended consumer: String) {
        self.init(
            .epoch,
            "the claim of the durable consumer '\(consumer)' has ended, because its process was silent or its partitions "
                + "have changed; claim again")
    }
}

extension BusError {
    package init(_ refusal: LedgerRefusal) {
        let code: Code =
            switch refusal.reason {
            case .epoch: .epoch
            case .fenced: .fenced
            case .unrecorded: .unrecorded
            case .full, .inUse: .refused
            }
        self.init(code, refusal.message)
    }

    package static func takenOver(_ consumer: String) -> BusError {
        BusError(LedgerRefusal(takenOver: consumer))
    }
}
