/// The knowledge of a bus about the process of an exclusive owner.
package enum OwnerLiveness: Sendable {
    case ended
    case alive
    /// The bus knows it after this time at the latest.
    case unknown(Duration)
}

extension ConsumerGroup {
    /// Checks that a durable consumer can be removed.
    /// - Parameter owner: The process of the exclusive owner. It only counts if there is such an owner.
    /// - Throws: ``LedgerRefusal`` with the reason `inUse`.
    package func requireUnused(_ consumer: String, owner: OwnerLiveness) throws(LedgerRefusal) {
        guard members.isEmpty else {
            throw LedgerRefusal(.inUse, "processes share the durable consumer '\(consumer)'; stop them first")
        }
        guard exclusiveOwner != nil else { return }
        switch owner {
        case .ended: return
        case .alive: throw LedgerRefusal(.inUse, "a process runs the durable consumer '\(consumer)'; stop it first")
        case .unknown(let time):
            throw LedgerRefusal(
                .inUse,
                "the broker does not know yet whether a process runs the durable consumer '\(consumer)'; "
                    + "try again after \(Int((time / .seconds(1)).rounded(.up))) s")
        }
    }
}
