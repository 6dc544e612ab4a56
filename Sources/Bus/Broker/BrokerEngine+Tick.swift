internal import BusProtocol
internal import Logging

extension BrokerEngine {
    /// What is done once a second.
    /// - Throws: ``BusError`` when the journal can no longer be trusted.
    mutating func tick(now: ContinuousClock.Instant) throws -> Outgoing {
        var outgoing = Outgoing()
        if let failure = journal.failure { throw failure }
        try journal.file.check()
        do {
            try expireLeases(now: now, &outgoing)
        } catch {
            logger.error("leases cannot be withdrawn", metadata: ["error": "\(error)"])
        }
        return outgoing
    }
}
