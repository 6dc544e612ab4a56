import EventBus
import Support
import Synchronization
import TestSupport

/// A bus whose broker never answers a claim.
struct SilentBus: ForwardingEngine {
    let inner: EventBus
    /// Opened by the first claim.
    let asked = Latch()

    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        asked.open()
        try await Latch().waitUntilOpen()
        throw CancellationError()
    }
}

/// A bus whose retention has removed each message before it is given up.
struct RemovingBus: ForwardingEngine {
    let inner: EventBus

    func publish(_ batch: Batch) async throws -> Position {
        guard batch.rejection == nil else {
            throw BusError(.deadLetter, "the message is no longer in the journal")
        }
        return try await inner.publish(batch)
    }
}

/// A bus whose retention has removed messages that no consumer had handled. Claims report them until progress is
/// recorded under one of these claims.
final class CutOffBus: ForwardingEngine {
    let inner: EventBus
    private let cutOffs: Mutex<[CutOff]>

    init(bus: EventBus, cutOffs: [CutOff]) {
        inner = bus
        self.cutOffs = Mutex(cutOffs)
    }

    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let claim = try await inner.engine.claim(consumer: consumer, as: member)
        return ConsumerClaim(
            consumer: consumer, member: member, ownerGeneration: claim.ownerGeneration, epoch: claim.epoch,
            offsets: claim.offsets, cutOffs: cutOffs.withLock(\.self))
    }

    func publish(_ batch: Batch) async throws -> Position {
        let position = try await inner.publish(batch)
        if batch.checkpoint != nil { cutOffs.withLock { $0 = [] } }
        return position
    }
}
