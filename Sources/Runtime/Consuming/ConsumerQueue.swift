internal import DequeModule
internal import EventBus

/// The unfinished messages of a durable consumer. The queue chooses the next message to handle and the next batch to
/// publish.
///
/// This is a pure state machine: the caller performs its steps and reports their results. Messages of one partition are
/// handled in order, and a partition publishes one batch at a time.
struct ConsumerQueue {
    /// The next action of the caller.
    enum Step {
        /// Handle a message, then call ``handled(_:of:)``.
        case handle(Envelope, Turn)
        /// Publish a batch, then call ``recorded(_:)``, ``refused(_:)``, ``lost(_:)`` or ``abandon(_:)``.
        case publish(Batch, Turn)
    }

    /// Identifies a step. If the partition has been dropped since the step began, the result of the step is ignored.
    struct Turn: Hashable {
        let partition: Partition
        /// The number of times that the partition had been dropped when the step began.
        fileprivate let generation: Int
        /// The owner epoch of the claim when the step began.
        fileprivate let ownerEpoch: UInt64
    }

    /// A message and its results.
    struct Outcome {
        let message: Envelope
        var results: Handled
    }

    /// The consequence of a refused batch.
    enum Refusal {
        /// The batch held the results of several messages. Its messages are handled again, each with a batch of its
        /// own, to find the message whose results are refused. Later handled messages of the partition are also handled
        /// again.
        case repeats(from: UInt64)
        /// The batch held the results of one message. They must be replaced with ``replace(_:with:)``.
        case replaces(Outcome)
        /// The partition was dropped in the meantime. The refusal has no consequence.
        case forgotten
    }

    /// The consequence of a batch whose claim is no longer valid.
    enum Loss: Equatable {
        /// The caller need not claim again because of this batch. Its results are published again later, unless the
        /// partition was dropped in the meantime.
        case waits
        /// The partition was dropped; the caller must claim again.
        case needsClaim
    }

    /// The order in which handling and recording follow each other.
    enum Mode {
        /// A message may be handled before the results of the previous one are recorded. A batch may contain the
        /// results of several messages.
        case pipelined
        /// A message is handled after the results of the previous one in its partition are recorded. The value is the
        /// maximum number of handlers that run at the same time; further messages wait.
        case concurrent(Int)
    }

    private enum State {
        case running
        /// The claim has ended. All steps wait for the next claim.
        case suspended
        /// No more handlers are started. Results are published under the last claim.
        case stopping
    }

    private struct Lane {
        var generation = 0
        /// The offset up to which the results of every message are recorded.
        var recorded: UInt64
        /// The offset of the last message that was taken.
        var taken: UInt64
        var waiting: Deque<Envelope> = []
        var handled: Deque<Outcome> = []
        var publishing: [Outcome] = []
        /// True if a handler runs, even if its message was dropped after the handler started.
        var isHandling = false
        var isPublishing = false
        /// The offset up to which each message is published in a batch of its own.
        var singleThrough: UInt64 = 0
        /// The message that a handler works on. Nil if no handler runs, or if the message was dropped after the handler
        /// started.
        var handling: Envelope?
        /// True if the partition is in the list of partitions that may have a next step.
        var isReady = false
        /// True if the partition was dropped. No message is taken until the next claim gives the offset to start from.
        var isLost = false

        var oldestUnfinished: UInt64? { publishing.first?.message.position?.offset ?? oldestUnpublished }
        var oldestUnpublished: UInt64? {
            // Dropped messages are still unfinished. The oldest one may be the first message beyond `recorded`.
            if isLost { return recorded + 1 }
            return (handled.first?.message ?? handling ?? waiting.first)?.position?.offset
        }
        var isBusy: Bool { isHandling || isPublishing }
        /// All unfinished messages.
        var messages: [Envelope] {
            publishing.map(\.message) + handled.map(\.message) + [handling].compactMap(\.self) + waiting
        }
    }

    /// The maximum number of unfinished messages. At this number the reader waits.
    static let capacity = 1024
    /// The total size in bytes of the unfinished messages' data at which the reader waits.
    static let capacitySize = 16 * 1024 * 1024
    /// The maximum number of results in a batch. If one message has more results, they are a batch of their own.
    private static let batchLength = 512
    /// The size in bytes of the results' data beyond which a batch takes no further message.
    private static let batchSize = 1024 * 1024

    private let mode: Mode
    private(set) var claim: ConsumerClaim
    private var lanes: [Partition: Lane] = [:]
    private var ready: Deque<Partition> = []
    private var handlerCount = 0
    private var batchCount = 0
    private var size = 0
    private(set) var count = 0
    /// The offset up to which every matching message has been taken.
    private var delivered: UInt64
    private var state = State.running
    private var dropped: Set<Partition> = []

    init(_ mode: Mode, claim: ConsumerClaim) {
        self.mode = mode
        self.claim = claim
        delivered = claim.position.offset
        for (partition, offset) in claim.offsets { lanes[partition] = Lane(recorded: offset, taken: offset) }
    }

    var hasRoom: Bool { count < Self.capacity && size < Self.capacitySize }

    /// True if no message is being handled and no batch is being published.
    var isQuiet: Bool { handlerCount == 0 && batchCount == 0 }

    /// True if no results remain to be published.
    var isPublished: Bool { lanes.values.allSatisfy { !$0.isPublishing && $0.handled.isEmpty } }

    /// The offset of the oldest unfinished message. Nil if every message is finished.
    var oldestUnfinished: UInt64? { oldestUnfinished { _, lane in lane.oldestUnfinished } }

    /// The offset up to which every message is handled.
    var settled: UInt64 { oldestUnfinished.map { min($0 - 1, delivered) } ?? delivered }

    /// True if the partition has not been dropped since a step began.
    func isCurrent(_ turn: Turn) -> Bool { lanes[turn.partition]?.generation == turn.generation }

    /// Returns the partitions that were dropped since the last call. Their unfinished messages are handled again, here or
    /// by another member.
    mutating func takeDropped() -> Set<Partition> {
        defer { dropped = [] }
        return dropped
    }

    // MARK: Taking messages

    /// Takes a message that was delivered. Ignores a message that was taken before, and a message of a partition that
    /// the claim does not cover or that was dropped.
    mutating func take(_ message: Envelope) {
        guard let position = message.position, var lane = lanes[message.partition] else { return }
        delivered = max(delivered, position.settled)
        guard position.offset > lane.taken, !lane.isLost else { return }
        lane.taken = position.offset
        lane.waiting.append(message)
        count += 1
        size += message.data.count
        lanes[message.partition] = lane
        note(message.partition)
    }

    /// Holds all steps back because the claim has ended. Has no effect on a queue that is stopping.
    mutating func suspend() {
        if state == .running { state = .suspended }
    }

    /// Continues under a new claim. A partition continues if the member still owns it, no other member has claimed in
    /// between, and none of its unfinished messages is recorded as handled. All other partitions are dropped.
    mutating func adopt(_ new: ConsumerClaim) {
        // The owner epoch grows by one each time a member claims newly assigned partitions. So a difference of at most
        // one means that no other member has claimed in between.
        let isContinuous = new.epoch == claim.epoch && new.ownerEpoch <= claim.ownerEpoch + 1
        claim = new
        delivered = new.position.offset
        if state == .suspended { state = .running }
        for partition in Array(lanes.keys) where new.offsets[partition] == nil {
            drop(partition)
            // A lane with a running step is kept: the partition may come back before the step ends.
            if lanes[partition]?.isBusy == false { lanes[partition] = nil }
        }
        for (partition, offset) in new.offsets {
            guard let lane = lanes[partition] else {
                lanes[partition] = Lane(recorded: offset, taken: offset)
                continue
            }
            let isOvertaken = lane.oldestUnfinished.map { $0 <= offset } ?? false
            if lane.isLost || !isContinuous || isOvertaken {
                drop(partition)
                lanes[partition]?.isLost = false
                lanes[partition]?.recorded = offset
                lanes[partition]?.taken = offset
            } else {
                lanes[partition]?.recorded = max(lane.recorded, offset)
                lanes[partition]?.taken = max(lane.taken, offset)
                if lane.oldestUnfinished != nil { note(partition) }
            }
        }
    }

    /// Starts no more handlers. The handlers that run may end, and results are still published, even if the claim has
    /// ended.
    mutating func stop() {
        state = .stopping
    }

    var isStopping: Bool { state == .stopping }

    // MARK: Steps

    /// The next step. Nil if there is none at present.
    mutating func next() -> Step? {
        guard state != .suspended else { return nil }
        var postponed: Deque<Partition> = []
        defer { ready.append(contentsOf: postponed) }
        while let partition = ready.popFirst() {
            lanes[partition]?.isReady = false
            if let step = publishing(partition) { return step }
            if let limit, handlerCount >= limit, lanes[partition]?.waiting.isEmpty == false {
                // The partition can continue when another handler ends.
                lanes[partition]?.isReady = true
                postponed.append(partition)
                continue
            }
            if let step = handling(partition) { return step }
        }
        return nil
    }

    private var limit: Int? { if case .concurrent(let limit) = mode { limit } else { nil } }

    private mutating func handling(_ partition: Partition) -> Step? {
        guard !isStopping, var lane = lanes[partition], !lane.isHandling, let message = lane.waiting.first else {
            return nil
        }
        let isAlone = limit != nil || lane.singleThrough >= message.position?.offset ?? 0
        guard !isAlone || lane.handled.isEmpty && !lane.isPublishing else { return nil }
        handlerCount += 1
        lane.waiting.removeFirst()
        lane.handling = message
        lane.isHandling = true
        lanes[partition] = lane
        return .handle(message, turn(partition, lane))
    }

    private mutating func publishing(_ partition: Partition) -> Step? {
        guard var lane = lanes[partition], !lane.isPublishing, let first = lane.handled.first else { return nil }
        var batch: [Outcome] = []
        var (messages, bytes) = (0, 0)
        while let outcome = lane.handled.first {
            let results = outcome.results.messages
            let isRoomy = messages + results.count <= Self.batchLength && bytes <= Self.batchSize
            guard batch.isEmpty || isRoomy else { break }
            batch.append(lane.handled.removeFirst())
            messages += results.count
            bytes += results.reduce(0) { $0 + $1.data.count }
            // A batch can give up only the message of its checkpoint, so a message that is given up is the last one of
            // its batch. After a refusal, the results of each message are published alone, to find the refused ones.
            let isSingle = lane.singleThrough >= outcome.message.position?.offset ?? 0
            if outcome.results.rejection != nil || isSingle { break }
        }
        batchCount += 1
        lane.isPublishing = true
        lane.publishing = batch
        lanes[partition] = lane
        // The next message may be handled while the batch is published.
        if !lane.waiting.isEmpty { note(partition) }
        let last = batch.last ?? first
        let checkpoint = Checkpoint(
            claim: claim, position: last.message.position ?? claim.position, partition: partition,
            previous: lane.recorded, settled: settled(without: partition))
        return .publish(
            Batch(batch.flatMap(\.results.messages), checkpoint: checkpoint, rejection: last.results.rejection),
            turn(partition, lane))
    }

    private func turn(_ partition: Partition, _ lane: Lane) -> Turn {
        Turn(partition: partition, generation: lane.generation, ownerEpoch: claim.ownerEpoch)
    }

    // MARK: Reporting results

    /// Takes the results of a handler.
    /// - Parameter results: nil if the handler ended without results: the message waits to be handled again.
    mutating func handled(_ results: Handled?, of turn: Turn) {
        guard var lane = lanes[turn.partition] else { return }
        lane.isHandling = false
        handlerCount -= 1
        if turn.generation == lane.generation, let message = lane.handling {
            lane.handling = nil
            if let results {
                lane.handled.append(Outcome(message: message, results: results))
            } else {
                lane.waiting.prepend(message)
            }
        }
        lanes[turn.partition] = lane
        note(turn.partition)
    }

    /// Reports that a batch is recorded.
    /// - Returns: the messages that are finished now.
    mutating func recorded(_ turn: Turn) -> [Outcome] {
        guard var lane = finishPublishing(turn) else { return [] }
        let finished = lane.publishing
        lane.publishing = []
        lane.recorded = finished.last?.message.position?.offset ?? lane.recorded
        count -= finished.count
        size -= finished.reduce(0) { $0 + $1.message.data.count }
        lanes[turn.partition] = lane
        note(turn.partition)
        return finished
    }

    /// Reports that the bus refused a batch because of its content.
    mutating func refused(_ turn: Turn) -> Refusal {
        guard var lane = finishPublishing(turn), let first = lane.publishing.first,
            let offset = first.message.position?.offset
        else { return .forgotten }
        guard lane.publishing.count > 1 else {
            lane.isPublishing = true
            batchCount += 1
            lanes[turn.partition] = lane
            return .replaces(first)
        }
        lane.singleThrough = lane.publishing.last?.message.position?.offset ?? offset
        takeBack(&lane, keeping: 0)
        lanes[turn.partition] = lane
        note(turn.partition)
        return .repeats(from: offset)
    }

    /// Replaces the results of the only message of a refused batch. Later messages of the partition are handled again.
    mutating func replace(_ turn: Turn, with results: Handled) {
        guard var lane = finishPublishing(turn), let first = lane.publishing.first else { return }
        takeBack(&lane, keeping: 1)
        lane.handled = [Outcome(message: first.message, results: results)]
        lanes[turn.partition] = lane
        note(turn.partition)
    }

    /// Drops the partition of a batch that cannot be published.
    mutating func abandon(_ turn: Turn) {
        if finishPublishing(turn) != nil { drop(turn.partition) }
    }

    /// Reports that the claim of a batch is no longer valid for its partition, or that the previous checkpoint is not
    /// recorded.
    mutating func lost(_ turn: Turn) -> Loss {
        guard var lane = finishPublishing(turn) else { return .waits }
        guard state == .suspended || turn.ownerEpoch != claim.ownerEpoch else {
            drop(turn.partition)
            return .needsClaim
        }
        // The claim was renewed after the step began, or is about to be renewed. The member may still own the
        // partition.
        for outcome in lane.publishing.reversed() { lane.handled.prepend(outcome) }
        lane.publishing = []
        lanes[turn.partition] = lane
        note(turn.partition)
        return .waits
    }

    private mutating func finishPublishing(_ turn: Turn) -> Lane? {
        guard var lane = lanes[turn.partition], lane.isPublishing else { return nil }
        lane.isPublishing = false
        batchCount -= 1
        lanes[turn.partition] = lane
        guard lane.generation == turn.generation else {
            note(turn.partition)
            return nil
        }
        return lane
    }

    /// Puts handled messages back into the list of waiting messages.
    private func takeBack(_ lane: inout Lane, keeping kept: Int) {
        let messages = lane.publishing.dropFirst(kept).map(\.message) + lane.handled.map(\.message)
        for message in messages.reversed() { lane.waiting.prepend(message) }
        lane.publishing = []
        lane.handled = []
    }

    private mutating func drop(_ partition: Partition) {
        guard var lane = lanes[partition] else { return }
        dropped.insert(partition)
        let messages = lane.messages
        count -= messages.count
        size -= messages.reduce(0) { $0 + $1.data.count }
        lane.generation += 1
        (lane.waiting, lane.handled, lane.publishing, lane.handling) = ([], [], [], nil)
        lane.singleThrough = 0
        lane.isLost = true
        lanes[partition] = lane
    }

    private mutating func note(_ partition: Partition) {
        guard let lane = lanes[partition], !lane.isReady else { return }
        guard claim.offsets[partition] != nil || lane.isBusy else {
            // The claim does not cover the partition, and no step of the partition is running any more.
            lanes[partition] = nil
            return
        }
        lanes[partition]?.isReady = true
        ready.append(partition)
    }

    /// The offset up to which every message is handled as soon as the current batch of a partition is recorded.
    private func settled(without partition: Partition) -> UInt64 {
        let oldest = oldestUnfinished { $0 == partition ? $1.oldestUnpublished : $1.oldestUnfinished }
        return oldest.map { min($0 - 1, delivered) } ?? delivered
    }

    private func oldestUnfinished(_ offset: (Partition, Lane) -> UInt64?) -> UInt64? {
        var oldest: UInt64?
        for (partition, lane) in lanes where claim.offsets[partition] != nil {
            guard let offset = offset(partition, lane) else { continue }
            oldest = min(oldest ?? offset, offset)
        }
        return oldest
    }
}
