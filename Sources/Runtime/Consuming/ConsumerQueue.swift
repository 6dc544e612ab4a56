internal import DequeModule
internal import EventBus

/// The unfinished messages of a durable consumer: which one to handle next, and what to publish.
///
/// A pure state machine. Within a partition messages are handled in their order, and one batch is published at a time.
/// Partitions do not wait for each other. The caller performs the steps and reports what became of them.
struct ConsumerQueue {
    /// What is to be done next.
    enum Step {
        /// Handle a message, then report to ``handled(_:of:)``.
        case handle(Envelope, Turn)
        /// Publish a batch, then report to ``recorded(_:)``, ``refused(_:)`` or ``fenced(_:)``.
        case publish(Batch, Turn)
    }

    /// The partition of a step, and how often that partition had been dropped when the step began.
    struct Turn: Hashable {
        let partition: Partition
        fileprivate let generation: Int
        fileprivate let ownerEpoch: UInt64
    }

    /// A message with its results.
    struct Outcome {
        let message: Envelope
        var results: Handled
    }

    /// What becomes of a refused batch.
    enum Refusal {
        /// It has several messages. They are handled again from this offset on, one batch each, to find the one that is
        /// refused.
        case repeats(from: UInt64)
        /// It has one message, whose results have to be replaced with ``replace(_:with:)``.
        case replaces(Outcome)
        /// Its partition was dropped.
        case forgotten
    }

    /// What becomes of a batch whose claim no longer counts.
    enum Loss: Equatable {
        /// It waits for the next claim.
        case waits
        /// The partition was dropped: a new claim is needed.
        case needsClaim
    }

    /// How messages are handled.
    enum Mode {
        /// A message is handled before the results of the message before it are recorded. Several messages share a batch.
        case pipelined
        /// A message is handled when the results of the message before it in its partition are recorded. So many handlers run
        /// at a time.
        case concurrent(Int)
    }

    private enum State {
        case running
        /// The claim has ended. Everything waits for the next one.
        case suspended
        /// No message is handled any more. Results are published under the last claim.
        case stopping
    }

    private struct Lane {
        var generation = 0
        /// Everything up to this offset is recorded.
        var recorded: UInt64
        /// The offset of the last message that was taken.
        var taken: UInt64
        var waiting: Deque<Envelope> = []
        var handled: Deque<Outcome> = []
        var publishing: [Outcome] = []
        /// Whether a handler runs, perhaps for a message that has been dropped since.
        var isHandling = false
        var isPublishing = false
        /// Up to this offset each message has a batch of its own.
        var singleThrough: UInt64 = 0
        /// The message that a handler has; nil if it was dropped since.
        var handling: Envelope?
        /// Whether it is in the list of those that may have a step to do.
        var isReady = false
        /// Whether it was dropped. Nothing is taken until the next claim says from where.
        var isLost = false

        var oldestUnfinished: UInt64? { publishing.first?.message.position?.offset ?? oldestUnpublished }
        var oldestUnpublished: UInt64? {
            // What was dropped is not handled: the claim may still cover it.
            if isLost { return recorded + 1 }
            return (handled.first?.message ?? handling ?? waiting.first)?.position?.offset
        }
        var isBusy: Bool { isHandling || isPublishing }
        /// All messages that are not finished.
        var messages: [Envelope] {
            publishing.map(\.message) + handled.map(\.message) + [handling].compactMap(\.self) + waiting
        }
    }

    /// Messages that are taken and not finished, at most. A reader that has more waits.
    static let capacity = 1024
    /// The same in bytes of their data.
    static let capacitySize = 16 * 1024 * 1024
    /// Results of one batch, at most, unless one message has more.
    private static let batchLength = 512
    private static let batchSize = 1024 * 1024

    private let mode: Mode
    private(set) var claim: ConsumerClaim
    private var lanes: [Partition: Lane] = [:]
    private var ready: Deque<Partition> = []
    private var handlerCount = 0
    private var batchCount = 0
    private var size = 0
    private(set) var count = 0
    /// Everything that matches has been taken up to this offset.
    private var delivered: UInt64
    private var state = State.running

    init(_ mode: Mode, claim: ConsumerClaim) {
        self.mode = mode
        self.claim = claim
        delivered = claim.position.offset
        for (partition, offset) in claim.offsets { lanes[partition] = Lane(recorded: offset, taken: offset) }
    }

    var hasRoom: Bool { count < Self.capacity && size < Self.capacitySize }

    /// Whether nothing is being handled or published.
    var isQuiet: Bool { handlerCount == 0 && batchCount == 0 }

    /// Whether there are no results to be published.
    var isPublished: Bool { lanes.values.allSatisfy { !$0.isPublishing && $0.handled.isEmpty } }

    /// The offset of the oldest message that was taken and is not finished.
    var oldestUnfinished: UInt64? { oldestUnfinished { _, lane in lane.oldestUnfinished } }

    /// The offset up to which everything is handled.
    var settled: UInt64 { oldestUnfinished.map { min($0 - 1, delivered) } ?? delivered }

    // MARK: Taking messages

    /// Takes a message that was delivered. One that was taken before is ignored.
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

    /// Lets everything wait: the claim has ended, and the next one says what goes on. A queue that stops has no next one.
    mutating func suspend() {
        if state == .running { state = .suspended }
    }

    /// Goes on under a new claim. What the member still owns goes on if no other member has claimed in between. The rest is
    /// dropped, and delivered again if it is owned.
    mutating func adopt(_ new: ConsumerClaim) {
        // Each claim that changes something has the next owner epoch.
        let isContinuous = new.epoch == claim.epoch && new.ownerEpoch <= claim.ownerEpoch + 1
        claim = new
        delivered = new.position.offset
        if state == .suspended { state = .running }
        for partition in Array(lanes.keys) where new.offsets[partition] == nil {
            drop(partition)
            // A handler that still runs keeps its place: the partition may come back before it ends.
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

    /// Hands out no more messages. Handlers that run end, and all results are published, though the claim may have ended.
    mutating func stop() {
        state = .stopping
    }

    var isStopping: Bool { state == .stopping }

    // MARK: Steps

    /// The next thing to do; nil when everything waits for something.
    mutating func next() -> Step? {
        guard state != .suspended else { return nil }
        var postponed: Deque<Partition> = []
        defer { ready.append(contentsOf: postponed) }
        while let partition = ready.popFirst() {
            lanes[partition]?.isReady = false
            if let step = publishing(partition) { return step }
            if let limit, handlerCount >= limit, lanes[partition]?.waiting.isEmpty == false {
                // The end of another handler makes room.
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
            // A batch gives up at most one message: that of its checkpoint. And what is refused is sought alone.
            let isSingle = lane.singleThrough >= outcome.message.position?.offset ?? 0
            if outcome.results.rejection != nil || isSingle { break }
        }
        batchCount += 1
        lane.isPublishing = true
        lane.publishing = batch
        lanes[partition] = lane
        // The next message may be handled meanwhile.
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

    // MARK: What became of them

    /// Takes the results of a handler in.
    /// - Parameter results: nil if it ended without: the message stays unfinished, and is handled again after a restart.
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

    /// A batch is in the journal.
    /// - Returns: the messages that are finished by it.
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

    /// A batch is refused because of what is in it.
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

    /// Gives the message of a refused batch other results. The messages after it are handled again.
    mutating func replace(_ turn: Turn, with results: Handled) {
        guard var lane = finishPublishing(turn), let first = lane.publishing.first else { return }
        takeBack(&lane, keeping: 1)
        lane.handled = [Outcome(message: first.message, results: results)]
        lanes[turn.partition] = lane
        note(turn.partition)
    }

    /// Drops the partition of a step that was given up.
    mutating func abandon(_ turn: Turn) {
        if finishPublishing(turn) != nil { drop(turn.partition) }
    }

    /// The claim of a batch no longer counts for its partition, or the checkpoint before is not recorded.
    mutating func lost(_ turn: Turn) -> Loss {
        guard var lane = finishPublishing(turn) else { return .waits }
        guard state == .suspended || turn.ownerEpoch != claim.ownerEpoch else {
            drop(turn.partition)
            return .needsClaim
        }
        // The claim has been renewed since, or is about to be: the partition may have stayed here.
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

    /// Puts messages that were handled back among those that wait.
    private func takeBack(_ lane: inout Lane, keeping kept: Int) {
        let messages = lane.publishing.dropFirst(kept).map(\.message) + lane.handled.map(\.message)
        for message in messages.reversed() { lane.waiting.prepend(message) }
        lane.publishing = []
        lane.handled = []
    }

    private mutating func drop(_ partition: Partition) {
        guard var lane = lanes[partition] else { return }
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
            // Another member's by now, and nothing runs for it any more.
            lanes[partition] = nil
            return
        }
        lanes[partition]?.isReady = true
        ready.append(partition)
    }

    /// What is settled once the batch under way in a partition is recorded.
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
