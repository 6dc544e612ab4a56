internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation

/// The producers that are alive, as far as the broker knows.
struct ProducerPresence {
    /// The time of the last request that named each producer.
    private var lastSeen: [ProducerID: ContinuousClock.Instant] = [:]
    /// The user of each producer's last request, on a bus with keys.
    private var users: [ProducerID: String] = [:]
    /// The number of producers of each user.
    private var counts = UserCounts()
    private let userCapacity: Int
    private(set) var listening: ListeningPeriod

    /// - Parameters:
    ///   - known: The producers in the journal. Their leases count from `now`.
    ///   - userCapacity: The maximum number of producers of one user.
    init(_ known: [ProducerID], userCapacity: Int, now: ContinuousClock.Instant) {
        self.userCapacity = userCapacity
        listening = ListeningPeriod(absence: .seconds(2), at: now)
        for producer in known { record(producer, user: nil, now: now) }
    }

    var producers: some Sequence<ProducerID> { lastSeen.keys }

    func isPresent(_ producer: ProducerID) -> Bool { lastSeen[producer] != nil }

    /// The producers with a user that is not one of `accepted`.
    func producers(withoutUserIn accepted: [String: Publisher]) -> [ProducerID] {
        users.filter { accepted[$0.value] == nil }.map(\.key)
    }

    /// Checks that a producer is not that of another user, who could otherwise end it or use up its sequence, and that
    /// its user has not too many.
    func checkUser(of producer: ProducerID, _ user: String?) throws(ProtocolError) {
        guard let owner = users[producer] else {
            guard let user, counts[user] >= userCapacity else { return }
            throw ProtocolError(.tooLarge, "\(userCapacity) processes use this key already; stop one of them")
        }
        guard owner != user else { return }
        throw ProtocolError(.malformed, "the producer is that of another process; choose 16 random bytes")
    }

    /// - Parameter user: Nil on a bus without keys, and for a producer in the journal.
    mutating func record(_ producer: ProducerID, user: String?, now: ContinuousClock.Instant) {
        lastSeen[producer] = now
        guard let user, users.updateValue(user, forKey: producer) == nil else { return }
        counts.add(1, to: user)
    }

    mutating func leave(_ producer: ProducerID) {
        lastSeen[producer] = nil
        guard let user = users.removeValue(forKey: producer) else { return }
        counts.add(-1, to: user)
    }

    /// Returns the producers that are silent. `hasListened` is false if the broker itself was stopped or asleep, so
    /// that it could not receive messages.
    mutating func check(now: ContinuousClock.Instant) -> (silent: [ProducerID], hasListened: Bool) {
        let hasListened = listening.check(at: now)
        return (lastSeen.filter { listening.isSilent(since: $0.value, at: now) }.map(\.key), hasListened)
    }
}

/// The exclusive members of durable consumers, each with its producer. A member is alive while its producer is present.
/// A broker that was restarted learns the producer from the member's next renewal.
struct ExclusiveOwners {
    private struct Owner {
        let member: UUID
        /// Nil once the member has left.
        let producer: ProducerID?
    }

    /// The owners by name of their consumer.
    private var owners: [String: Owner] = [:]

    /// Records the owner from a claim, a renewal or a leave.
    /// - Parameter consumer: The consumer after the request; nil if the journal does not know it.
    mutating func record(_ request: ClaimRequest, claimed: Claimed, consumer: Consumer?) {
        let member = request.member.id
        guard request.member.mode == .exclusive else {
            // A shared member displaces an exclusive one.
            if request.purpose == .claim { owners[request.consumer] = nil }
            return
        }
        switch request.purpose {
        case .claim: owners[request.consumer] = Owner(member: member, producer: request.producer)
        case .renewal:
            // A reader sends renewals until it ends, even after its member has left.
            guard owners[request.consumer]?.member != member, !claimed.offsets.isEmpty else { return }
            owners[request.consumer] = Owner(member: member, producer: request.producer)
        case .leave:
            guard consumer?.group.exclusiveOwner == member else { return }
            owners[request.consumer] = Owner(member: member, producer: nil)
        }
    }

    /// Whether the process of a consumer's exclusive owner is present.
    func liveness(
        of name: String, consumer: Consumer?, presence: ProducerPresence, now: ContinuousClock.Instant
    ) -> OwnerLiveness {
        guard let owner = owners[name], owner.member == consumer?.group.exclusiveOwner else {
            let isKnown = presence.listening.isSilent(since: presence.listening.start, at: now)
            return isKnown ? .ended : .unknown(ListeningPeriod.lease)
        }
        return owner.producer.map(presence.isPresent) ?? false ? .alive : .ended
    }

    /// Forgets a consumer that was removed.
    mutating func remove(_ name: String) {
        owners[name] = nil
    }
}
