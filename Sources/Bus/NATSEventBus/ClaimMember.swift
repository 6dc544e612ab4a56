internal import EventBus
internal import Foundation
internal import NATSLayout

/// A member of a durable consumer that this process runs: its claim, its fences, and its health.
struct ClaimMember: Sendable {
    struct ID: Hashable, Sendable {
        let consumer: String
        let member: UUID
    }

    let mode: ConsumerMode
    /// Nil until the first claim.
    private(set) var claim: HeldClaim?
    /// The partitions whose fences this member has written, or may have written, under its last owner generation.
    private(set) var fenced = FencedPartitions()
    var health: ClaimHealth
    /// The calls that claim now.
    private var claiming: Set<UUID> = []
    /// Nil for a shared member.
    let answers: AliveAnswers?

    init(_ mode: ConsumerMode, answers: AliveAnswers? = nil, at now: ContinuousClock.Instant = .now) {
        self.mode = mode
        self.answers = answers
        health = ClaimHealth(at: now)
    }

    mutating func beginClaim(_ call: UUID) { claiming.insert(call) }

    mutating func endClaim(_ call: UUID) { claiming.remove(call) }

    /// True while a call claims.
    var isClaiming: Bool { !claiming.isEmpty }

    /// True if a comparison with the recorded group shows that the claim is valid. A claim may be retried for ever
    /// although the group can be read.
    /// - Parameter hasLasted: True if a reader under the claim has lasted for more than one comparison.
    func isInOrder(hasLasted: Bool) -> Bool {
        claim != nil && !isClaiming && (hasLasted || !health.hasLostFence)
    }

    /// What is held under a claim; nil if the member has another claim now, or none.
    func held(under claim: ConsumerClaim) -> HeldClaim? {
        self.claim.flatMap { $0.belongs(to: claim) ? $0 : nil }
    }

    /// Changes what is held under a claim, unless the member has another claim now.
    mutating func change(_ claim: ConsumerClaim, _ change: (inout HeldClaim) -> Void) {
        guard var held = held(under: claim) else { return }
        change(&held)
        self.claim = held
    }

    /// Records fences that are about to be written: a write that fails may have been stored.
    mutating func recordFences(of ownership: Ownership) { fenced.add(ownership) }

    /// Records that the servers do not have fences that this member has written. Its next claim writes others.
    /// - Returns: True if none was lost since the claim was valid.
    mutating func recordLostFences() -> Bool {
        fenced.recordLoss()
        return health.recordLostFence()
    }

    /// Adopts a claim that was made. If the member has it already, its fences and its progress are added.
    /// - Parameter handled: The progress that the journal has recorded.
    /// - Returns: The offset up to which each partition is handled.
    mutating func adopt(
        _ ownership: Ownership, fences: [Partition: UInt64], handled: HandledOffsets, in epoch: UInt64
    ) -> [Partition: UInt64] {
        let generation = ownership.ownerGeneration
        var offsets: [Partition: UInt64] = [:]
        for partition in ownership.offsets.keys {
            offsets[partition] = handled.handled(partition, ownerGeneration: generation)
        }
        if var held = claim, held.epoch == epoch, held.ownerGeneration == generation {
            for (partition, recorded) in offsets {
                offsets[partition] = max(recorded, held.handledOffset(of: partition))
            }
            for (partition, fence) in fences {
                held.add(fence, of: partition)
                held.restore(partition, to: offsets[partition] ?? 0)
            }
            claim = held
        } else {
            claim = HeldClaim(epoch: epoch, ownerGeneration: generation, fences: fences, offsets: offsets)
        }
        return offsets
    }

    /// Adds a fence of a claim that another object of this process has made, or that was replaced since.
    mutating func addFence(_ fence: UInt64, of partition: Partition, under claim: ConsumerClaim) {
        if self.claim == nil {
            self.claim = HeldClaim(
                epoch: claim.epoch, ownerGeneration: claim.ownerGeneration, fences: [partition: fence],
                offsets: claim.offsets)
        } else {
            change(claim) { $0.add(fence, of: partition) }
        }
    }
}

extension ClaimMember.ID {
    init(_ claim: ConsumerClaim) {
        self.init(consumer: claim.consumer, member: claim.member.id)
    }
}

/// The partitions that a member has fenced under one owner generation.
struct FencedPartitions: Hashable, Sendable {
    private(set) var ownerGeneration: UInt64 = 0
    private var partitions: Set<Partition> = []
    /// True if the servers have lost a fence of this owner generation.
    private var hasLostFence = false

    /// Adds the partitions of a claim. Those of an earlier owner generation are forgotten.
    mutating func add(_ ownership: Ownership) {
        if ownerGeneration != ownership.ownerGeneration { (partitions, hasLostFence) = ([], false) }
        ownerGeneration = ownership.ownerGeneration
        partitions.formUnion(ownership.offsets.keys)
    }

    /// Records that the servers have lost a fence, so that the next claim writes others.
    mutating func recordLoss() { hasLostFence = true }

    /// True if a claim needs a higher owner generation: its group has replaced a lost one and has a lower one, or the
    /// claim has other partitions under the same one, or a fence is lost.
    func needsNewOwnerGeneration(for ownership: Ownership) -> Bool {
        guard ownerGeneration == ownership.ownerGeneration else { return ownerGeneration > ownership.ownerGeneration }
        return hasLostFence || partitions != Set(ownership.offsets.keys)
    }
}
