internal import BusProtocol
internal import Logging

extension BrokerEngine {
    /// A producer that is silent for longer loses its leased documents, and its memberships.
    static let leaseDuration: Duration = .seconds(5)
    /// Twice as long as from one look to the next: less than a lease, so that what waits to be heard counts before it ends.
    private static let absence: Duration = .seconds(2)

    /// Lets those go that have gone silent.
    mutating func expireLeases(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) throws {
        if now - lastLook > Self.absence {
            // It was the broker that was away, stopped or asleep: it has not heard what was said meanwhile.
            heard = heard.mapValues { _ in now }
            lastForgotten = now
            listeningSince = now
        }
        lastLook = now
        for (producer, last) in heard where now - last > Self.leaseDuration {
            try leave(producer, now: now, &outgoing)
        }
    }

    mutating func leave(_ producer: ProducerID, now: ContinuousClock.Instant, _ outgoing: inout Outgoing) throws {
        transientSequences[producer] = nil
        desk.leave(producer, &outgoing)
        let isMember = journal.consumers.values.contains { $0.producers.values.contains(producer) }
        if try isMember || journal.hasLeases(producer) {
            var feed: [FeedMessage] = []
            try journal.transaction(at: clock.time(at: now)) { database in
                try journal.withdrawLeases(of: producer, to: &feed, database)
                try journal.leave(producer, database)
            }
            outgoing.feed += feed
        }
        heard[producer] = nil
    }
}
