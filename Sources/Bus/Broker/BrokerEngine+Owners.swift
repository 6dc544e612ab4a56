internal import BusProtocol
internal import EventBus
internal import Foundation

/// The exclusive member of a durable consumer, and the producer that keeps it alive. The journal does not keep the producer: a
/// broker that was restarted learns it from the member's next renewal, which comes once a second.
struct ExclusiveOwner {
    let member: UUID
    /// Nil once the member has left.
    let producer: ProducerID?
}

extension BrokerEngine {
    /// Takes note of the owner that a claim, a renewal or a leave tells of.
    mutating func noteOwner(_ request: ClaimRequest, _ claimed: Claimed) {
        let member = request.member.id
        guard request.member.mode == .exclusive else {
            // A shared member displaces an exclusive one.
            if request.purpose == .claim { owners[request.consumer] = nil }
            return
        }
        switch request.purpose {
        case .claim: owners[request.consumer] = ExclusiveOwner(member: member, producer: request.producer)
        case .renewal:
            // A reader renews until it has ended, also after its member has left.
            guard owners[request.consumer]?.member != member, !claimed.offsets.isEmpty else { return }
            owners[request.consumer] = ExclusiveOwner(member: member, producer: request.producer)
        case .leave:
            guard journal.consumers[request.consumer]?.exclusiveOwner == member else { return }
            owners[request.consumer] = ExclusiveOwner(member: member, producer: nil)
        }
    }

    /// - Throws: ``ProtocolError`` with code `malformed` while the process of an exclusive owner is heard, or may be alive.
    func requireNoOwner(of name: String, now: ContinuousClock.Instant) throws {
        guard let member = journal.consumers[name]?.exclusiveOwner else { return }
        guard let owner = owners[name], owner.member == member else {
            guard now - listeningSince > Self.leaseDuration else {
                throw ProtocolError(
                    .malformed,
                    "the broker does not know yet whether a process runs the durable consumer '\(name)'; "
                        + "try again after \(Self.leaseDuration.components.seconds) s")
            }
            return
        }
        guard owner.producer.flatMap({ heard[$0] }) == nil else {
            throw ProtocolError(.malformed, "a process runs the durable consumer '\(name)'; stop it first")
        }
    }
}

extension Consumer {
    /// Nil while members share the consumer, or nobody has claimed it.
    fileprivate var exclusiveOwner: UUID? {
        group.shares.first?.member.flatMap { group.members.contains($0) ? nil : $0 }
    }
}
