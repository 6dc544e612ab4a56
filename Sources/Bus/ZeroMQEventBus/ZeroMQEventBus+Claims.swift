internal import BusProtocol
public import EventBus
internal import Logging

extension ZeroMQEventBus {
    public func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let request = ClaimRequest(producer: producer, member: member, consumer: consumer)
        guard case .claimed(let claimed) = try await ask(.claim(request)) else {
            throw BusError(.refused, "the broker answered a claim with something else")
        }
        return ConsumerClaim(
            consumer: consumer, member: member, ownerEpoch: claimed.ownerEpoch, epoch: claimed.epoch,
            offsets: claimed.offsets, cutOffs: claimed.cutOffs)
    }

    public func leave(consumer: String, as member: ConsumerMember) {
        guard state != .closed else { return }
        let request = ClaimRequest(producer: producer, member: member, consumer: consumer, purpose: .leave)
        enqueue(.claim(request), reply: .ignored)
    }

    /// Says that the members live, and asks whether their claims still hold.
    func renewClaims() {
        for (id, subscriber) in subscribers where !subscriber.isRenewing {
            guard let claim = subscriber.claim else { continue }
            subscriber.isRenewing = true
            let request = ClaimRequest(
                producer: producer, member: claim.member, consumer: claim.consumer, purpose: .renewal)
            enqueue(.claim(request), reply: .renewal(subscriber: id))
        }
    }

    /// Records how far members have come without a message for them: what is none of theirs must neither hold retention up nor
    /// count as lost to them.
    func recordSettled() {
        for subscriber in subscribers.values {
            guard let claim = subscriber.claim, claim.epoch == epoch, claim.ownerEpoch > 0,
                let settled = subscriber.settled, settled > subscriber.recorded
            else { continue }
            subscriber.recorded = settled
            let checkpoint = CheckpointFrame(
                consumer: claim.consumer, ownerEpoch: claim.ownerEpoch, epoch: epoch, offset: settled,
                settled: settled, partition: nil)
            let request = PublishRequest(producer: producer, sequence: 0, checkpoint: checkpoint, messages: [])
            enqueue(.publish(request), reply: .ignored)
        }
    }

    func renewed(_ reply: Reply, for id: Int) {
        guard let subscriber = subscribers[id], let claim = subscriber.claim else { return }
        subscriber.isRenewing = false
        switch reply {
        case .claimed(let claimed):
            let holds = claimed.ownerEpoch == claim.ownerEpoch && claimed.epoch == claim.epoch
            if !holds || Set(claimed.offsets.keys) != Set(claim.offsets.keys) {
                subscriber.finish()
            }
        case .refused(let error):
            logger.warning("a claim could not be renewed", metadata: ["reason": "\(error)"])
        default: break
        }
    }
}
