internal import BusProtocol
internal import Logging

extension BrokerEngine {
    private static var producerInterval: Duration { .seconds(3600) }
    private static var garbageInterval: Duration { .seconds(5) }

    /// What is done once a second.
    /// - Throws: ``BusError`` when the journal can no longer be trusted.
    package mutating func tick(now: ContinuousClock.Instant) throws -> Outgoing {
        var outgoing = Outgoing()
        if let failure = journal.failure { throw failure }
        try journal.file.check()
        desk.expire(now: now, &outgoing)
        do {
            try journal.requireLoaded()
            try expireLeases(now: now, &outgoing)
            try warnConsumersBehind(now: now)
            if lastWriteFailure != nil || lastForgotten.map({ now - $0 > Self.producerInterval }) ?? true {
                // Also tells whether the journal can be written again while nobody publishes.
                try journal.transaction(at: clock.time(at: now)) { try journal.forgetProducers($0) }
                lastForgotten = now
            }
        } catch {
            logger.error("the journal cannot be kept in order", metadata: ["error": "\(error)"])
        }
        reportGarbage(now: now)
        watchWriting(now: now)
        publishNotices(now: now, &outgoing)
        return outgoing
    }

    /// A peer that speaks another protocol is named in the log now and then, however often it tries.
    private mutating func reportGarbage(now: ContinuousClock.Instant) {
        guard garbageCount > 0, now - lastGarbageReport >= Self.garbageInterval else { return }
        logger.warning(
            "requests that are not the protocol were refused",
            metadata: ["count": "\(garbageCount)", "last": "\(lastGarbage)"])
        garbageCount = 0
        lastGarbageReport = now
    }
}
