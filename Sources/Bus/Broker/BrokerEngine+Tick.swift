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
            if now - lastForgotten > Self.producerInterval || journal.producers.count > ProducerRow.capacity {
                lastForgotten = now
                try journal.transaction(at: clock.time(at: now)) { database in
                    try journal.forgetProducers(but: heard.keys, database)
                }
            } else if lastWriteFailure != nil {
                // Tells whether the journal can be written again while nobody publishes; on a full disk a row that nobody
                // needs would take the room that was just made.
                try journal.transaction(at: clock.time(at: now)) { _ in }
            }
        } catch {
            logger.error("the journal cannot be kept in order", metadata: ["error": "\(error)"])
        }
        reportGarbage(now: now)
        watchWriting(now: now)
        publishNotices(now: now, &outgoing)
        return outgoing
    }

    /// - Parameter reason: what was wrong with the last of it.
    mutating func noteGarbage(_ count: Int, _ reason: String) {
        guard count > 0 else { return }
        garbageCount += count
        lastGarbage = reason
    }

    /// A peer that speaks another protocol is named in the log now and then, however often it tries.
    private mutating func reportGarbage(now: ContinuousClock.Instant) {
        guard garbageCount > 0, lastGarbageReport.map({ now - $0 >= Self.garbageInterval }) ?? true else { return }
        logger.warning(
            "what is not the protocol was refused or dropped",
            metadata: ["count": "\(garbageCount)", "last": "\(lastGarbage)"])
        garbageCount = 0
        lastGarbageReport = now
    }
}
