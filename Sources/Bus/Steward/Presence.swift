internal import BusFormat
internal import Foundation
internal import NATSLayout

/// The clients that are alive, as far as the steward has heard them, as a value without side effects.
///
/// A client that is silent for longer than ``lease`` is assumed to have ended. Nobody is, while the steward itself may
/// have missed heartbeats: at the beginning of its term, and after any absence.
struct Presence {
    typealias Instant = ContinuousClock.Instant

    /// A member of a durable consumer.
    struct Member: Hashable, Sendable {
        let consumer: String
        let id: UUID
    }

    /// The time after which a silent client loses its leased documents and its memberships.
    static let lease = Duration.seconds(5)
    /// The time between two looks after which the steward may have missed heartbeats.
    static let absence = Duration.seconds(1)
    /// The maximum number of clients that are remembered although they have no lease and no membership.
    private static let capacity = 65_536

    private struct HeardMember {
        var time: Instant
        var hasProblem = false
    }

    private var producers: [ProducerID: Instant] = [:]
    private var members: [Member: HeardMember] = [:]
    private var lastLook: Instant

    init(at now: Instant) {
        lastLook = now
    }

    /// Handles a heartbeat.
    /// - Returns: The members that have a problem, and had none at their last heartbeat.
    mutating func hear(_ heartbeat: Heartbeat, at now: Instant) -> [Heartbeat.Member] {
        guard let producer = heartbeat.producer else { return [] }
        guard producers[producer] != nil || producers.count < Self.capacity else { return [] }
        producers[producer] = now
        return heartbeat.members.filter { member in
            let id = Member(consumer: member.consumer, id: member.id)
            guard members[id] != nil || members.count < Self.capacity else { return false }
            let hadProblem = members[id]?.hasProblem ?? false
            members[id] = HeardMember(time: now, hasProblem: member.problem != nil)
            return member.problem != nil && !hadProblem
        }
    }

    /// Begins all leases anew, because heartbeats may have been missed.
    mutating func beginAnew(at now: Instant) {
        producers = producers.mapValues { _ in now }
        for member in members.keys { members[member]?.time = now }
        lastLook = now
    }

    /// Returns those that have been silent for too long.
    /// - Parameters:
    ///   - holders: The producers that hold a lease.
    ///   - owners: The members of all durable consumers.
    mutating func look(
        holders: Set<ProducerID>, owners: Set<Member>, at now: Instant
    ) -> (producers: Set<ProducerID>, members: Set<Member>) {
        if now - lastLook > Self.absence { beginAnew(at: now) }
        lastLook = now
        // One that has not been heard yet has a whole lease from now on.
        for producer in holders where producers[producer] == nil { producers[producer] = now }
        for member in owners where members[member] == nil { members[member] = HeardMember(time: now) }
        let silent = (
            holders.filter { now - (producers[$0] ?? now) > Self.lease },
            owners.filter { now - (members[$0]?.time ?? now) > Self.lease }
        )
        producers = producers.filter { holders.contains($0.key) || now - $0.value <= Self.lease }
        members = members.filter { owners.contains($0.key) || now - $0.value.time <= Self.lease }
        return silent
    }
}
