internal import BusFormat
internal import EventBus
internal import Foundation
internal import NATSLayout

/// The clients that are alive, as far as the steward has received their heartbeats, as a value without side effects.
struct LiveClients {
    typealias Instant = ContinuousClock.Instant

    /// A member of a durable consumer.
    struct Member: Hashable, Sendable {
        let consumer: String
        let id: UUID
    }

    /// The maximum number of clients that are remembered although they have no lease and no membership.
    private static let capacity = 65_536

    private struct KnownMember {
        var time: Instant
        var hasProblem = false
    }

    private var producers: [ProducerID: Instant] = [:]
    private var members: [Member: KnownMember] = [:]
    private var listening: ListeningPeriod

    init(at now: Instant) {
        listening = ListeningPeriod(absence: .seconds(1), at: now)
    }

    /// Handles a heartbeat.
    /// - Returns: The members that have a problem, and had none at their last heartbeat.
    mutating func handle(_ heartbeat: Heartbeat, at now: Instant) -> [Heartbeat.Member] {
        guard let producer = heartbeat.producer else { return [] }
        guard producers[producer] != nil || producers.count < Self.capacity else { return [] }
        producers[producer] = now
        return heartbeat.members.filter { member in
            let id = Member(consumer: member.consumer, id: member.id)
            guard members[id] != nil || members.count < Self.capacity else { return false }
            let hadProblem = members[id]?.hasProblem ?? false
            members[id] = KnownMember(time: now, hasProblem: member.problem != nil)
            return member.problem != nil && !hadProblem
        }
    }

    /// Starts all leases again, because heartbeats may have been missed.
    mutating func beginAnew(at now: Instant) { listening.begin(at: now) }

    /// Returns those that have been silent for too long.
    /// - Parameters:
    ///   - holders: The producers that hold a lease.
    ///   - owners: The members of all durable consumers.
    mutating func check(
        holders: Set<ProducerID>, owners: Set<Member>, at now: Instant
    ) -> (producers: Set<ProducerID>, members: Set<Member>) {
        _ = listening.check(at: now)
        // One whose heartbeat has not come yet has a whole lease from now on.
        for producer in holders where producers[producer] == nil { producers[producer] = now }
        for member in owners where members[member] == nil { members[member] = KnownMember(time: now) }
        let silent = (
            holders.filter { isSilent(producers[$0], at: now) }, owners.filter { isSilent(members[$0]?.time, at: now) }
        )
        producers = producers.filter { holders.contains($0.key) || !isSilent($0.value, at: now) }
        members = members.filter { owners.contains($0.key) || !isSilent($0.value.time, at: now) }
        return silent
    }

    private func isSilent(_ lastSeen: Instant?, at now: Instant) -> Bool {
        lastSeen.map { listening.isSilent(since: $0, at: now) } ?? false
    }
}
