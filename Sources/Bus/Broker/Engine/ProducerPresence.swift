internal import BusProtocol
internal import EventBus
internal import Foundation

/// Which producers are heard: one that is silent for longer than a lease has gone.
struct ProducerPresence {
    /// A producer that is silent for longer loses its leased documents, and its memberships.
    static let leaseDuration: Duration = .seconds(5)
    /// Twice as long as from one look to the next: less than a lease, so that what waits to be heard counts before it ends.
    private static let absence: Duration = .seconds(2)

    /// When each producer last said something.
    private var heard: [ProducerID: ContinuousClock.Instant] = [:]
    private var lastLook: ContinuousClock.Instant
    /// Since when the broker has heard what is said: its start, or its return after an absence.
    private(set) var listeningSince: ContinuousClock.Instant

    /// - Parameter known: those that the journal knows of; their leases count from now: they may have outlived the broker.
    init(_ known: [ProducerID], now: ContinuousClock.Instant) {
        lastLook = now
        listeningSince = now
        for producer in known { hear(producer, now: now) }
    }

    var producers: some Sequence<ProducerID> { heard.keys }

    func isHeard(_ producer: ProducerID) -> Bool { heard[producer] != nil }

    mutating func hear(_ producer: ProducerID, now: ContinuousClock.Instant) {
        heard[producer] = now
    }

    mutating func leave(_ producer: ProducerID) {
        heard[producer] = nil
    }

    /// The producers that have fallen silent.
    mutating func look(now: ContinuousClock.Instant) -> [ProducerID] {
        if now - lastLook > Self.absence {
            // It was the broker that was away, stopped or asleep: it has not heard what was said meanwhile.
            heard = heard.mapValues { _ in now }
            listeningSince = now
        }
        lastLook = now
        return heard.filter { now - $0.value > Self.leaseDuration }.map(\.key)
    }
}

/// The exclusive members of durable consumers, each with the producer that keeps it alive. The journal does not keep the
/// producer: a broker that was restarted learns it from the member's next renewal, which comes once a second.
struct ExclusiveOwners {
    private struct Owner {
        let member: UUID
        /// Nil once the member has left.
        let producer: ProducerID?
    }

    /// By name of the consumer.
    private var owners: [String: Owner] = [:]

    /// Takes note of the owner that a claim, a renewal or a leave tells of.
    /// - Parameter consumer: what the journal has of it by now.
    mutating func note(_ request: ClaimRequest, _ claimed: Claimed, _ consumer: Consumer?) {
        let member = request.member.id
        guard request.member.mode == .exclusive else {
            // A shared member displaces an exclusive one.
            if request.purpose == .claim { owners[request.consumer] = nil }
            return
        }
        switch request.purpose {
        case .claim: owners[request.consumer] = Owner(member: member, producer: request.producer)
        case .renewal:
            // A reader renews until it has ended, also after its member has left.
            guard owners[request.consumer]?.member != member, !claimed.offsets.isEmpty else { return }
            owners[request.consumer] = Owner(member: member, producer: request.producer)
        case .leave:
            guard consumer?.exclusiveOwner == member else { return }
            owners[request.consumer] = Owner(member: member, producer: nil)
        }
    }

    /// - Throws: ``ProtocolError`` with code `malformed` while the process of an exclusive owner is heard, or may be alive.
    func requireNone(
        of name: String, _ consumer: Consumer?, _ presence: ProducerPresence, now: ContinuousClock.Instant
    ) throws(ProtocolError) {
        guard let member = consumer?.exclusiveOwner else { return }
        guard let owner = owners[name], owner.member == member else {
            guard now - presence.listeningSince > ProducerPresence.leaseDuration else {
                throw ProtocolError(
                    .malformed,
                    "the broker does not know yet whether a process runs the durable consumer '\(name)'; "
                        + "try again after \(ProducerPresence.leaseDuration.components.seconds) s")
            }
            return
        }
        guard !(owner.producer.map(presence.isHeard) ?? false) else {
            throw ProtocolError(.malformed, "a process runs the durable consumer '\(name)'; stop it first")
        }
    }

    /// The consumer is gone.
    mutating func remove(_ name: String) {
        owners[name] = nil
    }
}
