internal import DequeModule
package import EventBus

/// The unfinished messages of a durable consumer. The queue chooses the next message to handle and the next batch to
/// publish.
///
/// This is a pure state machine: the caller performs its steps and reports their results. Messages of one partition are
/// handled in order, and a partition publishes one batch at a time.
package struct ConsumerQueue {
    /// The next action of the caller.
    package enum Step {
        /// Handle a message, then call ``handled(_:of:)``.
        case handle(Envelope, Permit)
        /// Publish a batch, then call ``recorded(_:)``, ``refused(_:)``, ``lost(_:)`` or ``abandon(_:)``.
        case publish(Batch, Permit)
        /// Publish the messages of a timer, then call ``fired(_:)``, ``lost(_:)`` or ``abandon(_:)``.
        case fire(OpenTimers.DueTimer, Permit)
    }

    /// Identifies a step. If the partition has been dropped since the step began, the result of the step is ignored.
    package struct Permit: Hashable {
        let partition: Partition
        /// The number of times that the partition had been dropped when the step began.
        fileprivate let generation: Int
        /// The owner generation of the claim when the step began.
        fileprivate let ownerGeneration: UInt64
    }

    /// A message and its results.
    package struct Outcome {
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
    package enum Mode {
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

    /// The timers of one partition that are due. They fire before the waiting messages are handled.
    private struct Timers {
        var due: Deque<OpenTimers.DueTimer> = []
        /// The timer whose messages are published. Nil if none is.
        var firing: OpenTimers.DueTimer?
    }

    /// The messages of one partition. A lane is changed in place: a copy would copy its queues at the next change.
    private struct Lane {
        var generation = 0
        /// True if the claim covers the partition.
        var isOwned = true
        /// The offset up to which the results of every message are recorded.
        var recorded: UInt64
        /// The offset of the last message that was received.
        var received: UInt64
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
        /// True if the partition was dropped. No message is enqueued until the next claim gives the offset to start
        /// from.
        var isLost = false

        var oldestUnfinished: UInt64? {
            publishing.isEmpty ? oldestUnpublished : publishing[0].message.position?.offset
        }
        var oldestUnpublished: UInt64? {
            // Dropped messages are still unfinished. The oldest one may be the first message beyond `recorded`.
            if isLost { return recorded + 1 }
            if !handled.isEmpty { return handled[0].message.position?.offset }
            if handling != nil || waiting.isEmpty { return handling?.position?.offset }
            return waiting[0].position?.offset
        }
        var isBusy: Bool { isHandling || isPublishing }

        /// Returns false for a message that was received before, and for a message of a partition that was dropped.
        mutating func enqueue(_ message: Envelope, at offset: UInt64) -> Bool {
            guard offset > received, !isLost else { return false }
            received = offset
            waiting.append(message)
            return true
        }

        /// - Parameter isConcurrent: true if no message is handled before the results of the previous one are recorded.
        mutating func beginHandling(isConcurrent: Bool) -> Envelope? {
            guard !isHandling, let message = waiting.first else { return nil }
            let isAlone = isConcurrent || singleThrough >= message.position?.offset ?? 0
            guard !isAlone || handled.isEmpty && !isPublishing else { return nil }
            waiting.removeFirst()
            handling = message
            isHandling = true
            return message
        }

        mutating func endHandling(_ results: Handled?, of permit: Permit) {
            isHandling = false
            guard permit.generation == generation, let message = handling else { return }
            handling = nil
            if let results {
                handled.append(Outcome(message: message, results: results))
            } else {
                waiting.prepend(message)
            }
        }

        /// Moves the outcomes of the next batch to ``publishing``. False if there are none, or a batch is published.
        mutating func beginPublishing() -> Bool {
            guard !isPublishing, !handled.isEmpty else { return false }
            var (messages, bytes) = (0, 0)
            while let outcome = handled.first {
                let results = outcome.results.messages
                let isRoomy = messages + results.count <= batchLength && bytes <= batchSize
                guard publishing.isEmpty || isRoomy else { break }
                handled.removeFirst()
                publishing.append(outcome)
                messages += results.count
                bytes += results.reduce(0) { $0 + $1.data.count }
                // A batch can give up only the message of its checkpoint, so a message that is given up is the last one
                // of its batch. After a refusal, the results of each message are published alone, to find the refused
                // ones.
                let isSingle = singleThrough >= outcome.message.position?.offset ?? 0
                if outcome.results.rejection != nil || isSingle { break }
            }
            isPublishing = true
            return true
        }

        /// True if no earlier message of the partition is unfinished.
        var isFreeToFire: Bool { !isHandling && !isPublishing && handled.isEmpty }

        /// Forgets the messages whose batch is recorded.
        mutating func endPublishing() -> [Outcome] {
            defer { publishing = [] }
            recorded = publishing.last?.message.position?.offset ?? recorded
            return publishing
        }

        /// Puts handled messages back into the list of waiting messages.
        mutating func rewind(keeping kept: Int) {
            let messages = publishing.dropFirst(kept).map(\.message) + handled.map(\.message)
            for message in messages.reversed() { waiting.prepend(message) }
            publishing = []
            handled = []
        }

        /// Puts the results that are not published back into the list of handled messages.
        mutating func keepResults() {
            for outcome in publishing.reversed() { handled.prepend(outcome) }
            publishing = []
        }

        /// Forgets all messages, and returns them.
        mutating func drop() -> [Envelope] {
            defer {
                generation += 1
                (waiting, handled, publishing, handling) = ([], [], [], nil)
                singleThrough = 0
                isLost = true
            }
            return publishing.map(\.message) + handled.map(\.message) + [handling].compactMap(\.self) + waiting
        }

        /// The messages up to an offset are recorded.
        mutating func advance(to offset: UInt64) {
            recorded = max(recorded, offset)
            received = max(received, offset)
        }

        /// Continues under a new claim, after the message at an offset.
        mutating func resume(after offset: UInt64) {
            isLost = false
            recorded = offset
            received = offset
        }
    }

    /// The maximum number of unfinished messages. At this number the reader waits.
    static let capacity = 1024
    /// The total size in bytes of the unfinished messages' data at which the reader waits.
    static let capacitySize = 16 * 1024 * 1024
    /// The maximum number of results in a batch. If one message has more results, they are a batch of their own.
    private static let batchLength = 512
    /// The size in bytes of the results' data beyond which a batch gets no further message.
    private static let batchSize = 1024 * 1024

    private let mode: Mode
    private(set) var claim: ConsumerClaim
    private var lanes: [Partition: Lane] = [:]
    private var ready: Deque<Partition> = []
    private var handlerCount = 0
    private var batchCount = 0
    private var size = 0
    private(set) var count = 0
    /// The offset up to which every matching message has been received.
    private var delivered: UInt64
    private var state = State.running
    private var dropped: Set<Partition> = []
    /// The timers that are due. Not a part of the lanes: most consumers have none, and their steps need not look for
    /// one.
    private var timers: [Partition: Timers] = [:]

    package init(_ mode: Mode, claim: ConsumerClaim) {
        self.mode = mode
        self.claim = claim
        delivered = claim.position.offset
        for (partition, offset) in claim.offsets { lanes[partition] = Lane(recorded: offset, received: offset) }
    }

    var hasRoom: Bool { count < Self.capacity && size < Self.capacitySize }

    /// True if no message is being handled and no batch is being published.
    var isQuiet: Bool { handlerCount == 0 && batchCount == 0 }

    /// True if no results remain to be published.
    var isPublished: Bool { lanes.values.allSatisfy { !$0.isPublishing && $0.handled.isEmpty } }

    /// The offset of the oldest unfinished message. Nil if every message is finished.
    var oldestUnfinished: UInt64? { oldest { lanes.values[$0].oldestUnfinished } }

    /// The offset up to which every message is handled.
    var settled: UInt64 { oldestUnfinished.map { min($0 - 1, delivered) } ?? delivered }

    /// True if the partition has not been dropped since a step began.
    func isCurrent(_ permit: Permit) -> Bool { lanes[permit.partition]?.generation == permit.generation }

    /// Returns the partitions that were dropped since the last call. Their unfinished messages are handled again, here
    /// or by another member.
    mutating func drainDropped() -> Set<Partition> {
        defer { dropped = [] }
        return dropped
    }

    // MARK: Receiving messages

    /// Enqueues a message that was delivered. Ignores a message that was received before, and a message of a partition
    /// that the claim does not cover or that was dropped.
    package mutating func enqueue(_ delivery: Delivery) {
        let message = delivery.message
        guard let position = message.position, let lane = lanes.index(forKey: message.partition) else { return }
        delivered = max(delivered, delivery.lowWatermark)
        guard lanes.values[lane].enqueue(message, at: position.offset) else { return }
        count += 1
        size += message.data.count
        updateReadiness(of: message.partition)
    }

    /// Enqueues a timer that is due. Ignores a timer of a partition that was dropped, or that the claim does not cover:
    /// after the next claim it is due again.
    mutating func enqueue(_ timer: OpenTimers.DueTimer) {
        guard let lane = lanes.index(forKey: timer.partition), lanes.values[lane].isOwned, !lanes.values[lane].isLost,
            timers[timer.partition]?.due.contains(where: { $0.isSame(as: timer) }) != true
        else { return }
        timers[timer.partition, default: Timers()].due.append(timer)
        updateReadiness(of: timer.partition)
    }

    /// Holds all steps back because the claim has ended. Has no effect on a queue that is stopping.
    mutating func suspend() {
        if state == .running { state = .suspended }
    }

    /// The partitions that ``adopt(_:)`` drops.
    func dropped(by new: ConsumerClaim) -> Set<Partition> {
        let isContinuous = new.continues(claim)
        return Set(
            new.offsets.filter { partition, offset in
                guard let lane = lanes[partition] else { return false }
                return lane.isLost || !isContinuous || lane.oldestUnfinished.map { $0 <= offset } ?? false
            }.keys)
    }

    /// Continues under a new claim. A partition continues if the member still owns it, no other member has claimed in
    /// between, and none of its unfinished messages is recorded as handled. All other partitions are dropped.
    package mutating func adopt(_ new: ConsumerClaim) {
        let dropped = dropped(by: new)
        claim = new
        delivered = new.position.offset
        if state == .suspended { state = .running }
        for partition in Array(lanes.keys) where new.offsets[partition] == nil {
            drop(partition)
            lanes[partition]?.isOwned = false
            // A lane with a running step is kept: the partition may come back before the step ends.
            if lanes[partition]?.isBusy == false { lanes[partition] = nil }
        }
        for (partition, offset) in new.offsets {
            guard let index = lanes.index(forKey: partition) else {
                lanes[partition] = Lane(recorded: offset, received: offset)
                continue
            }
            lanes.values[index].isOwned = true
            let oldest = lanes.values[index].oldestUnfinished
            if dropped.contains(partition) {
                drop(partition)
                lanes.values[index].resume(after: offset)
            } else {
                lanes.values[index].advance(to: offset)
                if oldest != nil { updateReadiness(of: partition) }
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
    package mutating func next() -> Step? {
        guard state != .suspended else { return nil }
        var postponed: Deque<Partition> = []
        defer { ready.append(contentsOf: postponed) }
        while let partition = ready.popFirst() {
            lanes[partition]?.isReady = false
            if let step = publishing(partition) { return step }
            if !timers.isEmpty, let step = firing(partition) { return step }
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
        let isConcurrent = limit != nil
        // A timer that is due, or whose messages are published, goes first.
        guard timers.isEmpty || timers[partition] == nil else { return nil }
        guard !isStopping, let message = lanes[partition]?.beginHandling(isConcurrent: isConcurrent) else {
            return nil
        }
        handlerCount += 1
        return .handle(message, permit(partition))
    }

    private mutating func firing(_ partition: Partition) -> Step? {
        guard !isStopping, lanes[partition]?.isFreeToFire == true, let timer = timers[partition]?.due.popFirst() else {
            return nil
        }
        timers[partition]?.firing = timer
        lanes[partition]?.isPublishing = true
        batchCount += 1
        return .fire(timer, permit(partition))
    }

    private mutating func publishing(_ partition: Partition) -> Step? {
        guard let index = lanes.index(forKey: partition), lanes.values[index].beginPublishing(),
            let last = lanes.values[index].publishing.last
        else { return nil }
        batchCount += 1
        // The next message may be handled while the batch is published.
        if !lanes.values[index].waiting.isEmpty { updateReadiness(of: partition) }
        let checkpoint = Checkpoint(
            claim: claim, position: last.message.position ?? claim.position, partition: partition,
            previous: lanes.values[index].recorded, settled: settled(without: partition))
        let messages = lanes.values[index].publishing.flatMap(\.results.messages)
        return .publish(
            Batch(messages, checkpoint: checkpoint, rejection: last.results.rejection), permit(partition))
    }

    private func permit(_ partition: Partition) -> Permit {
        Permit(
            partition: partition, generation: lanes[partition]?.generation ?? 0, ownerGeneration: claim.ownerGeneration)
    }

    // MARK: Reporting results

    /// Records the results of a handler.
    /// - Parameter results: nil if the handler ended without results: the message waits to be handled again.
    package mutating func handled(_ results: Handled?, of permit: Permit) {
        guard lanes[permit.partition] != nil else { return }
        handlerCount -= 1
        lanes[permit.partition]?.endHandling(results, of: permit)
        updateReadiness(of: permit.partition)
    }

    /// Reports that a batch is recorded.
    /// - Returns: the messages that are finished now.
    package mutating func recorded(_ permit: Permit) -> [Outcome] {
        guard finishPublishing(permit), let finished = lanes[permit.partition]?.endPublishing() else { return [] }
        count -= finished.count
        size -= finished.reduce(0) { $0 + $1.message.data.count }
        updateReadiness(of: permit.partition)
        return finished
    }

    /// Reports that the messages of a timer are recorded, or that the timer has nothing to publish.
    mutating func fired(_ permit: Permit) {
        guard finishPublishing(permit) else { return }
        timers[permit.partition]?.firing = nil
        if timers[permit.partition]?.due.isEmpty == true { timers[permit.partition] = nil }
        updateReadiness(of: permit.partition)
    }

    /// Reports that the bus refused a batch because of its content.
    mutating func refused(_ permit: Permit) -> Refusal {
        guard finishPublishing(permit), let batch = lanes[permit.partition]?.publishing, let first = batch.first,
            let offset = first.message.position?.offset
        else { return .forgotten }
        guard batch.count > 1 else {
            lanes[permit.partition]?.isPublishing = true
            batchCount += 1
            return .replaces(first)
        }
        lanes[permit.partition]?.singleThrough = batch.last?.message.position?.offset ?? offset
        lanes[permit.partition]?.rewind(keeping: 0)
        updateReadiness(of: permit.partition)
        return .repeats(from: offset)
    }

    /// Replaces the results of the only message of a refused batch. Later messages of the partition are handled again.
    mutating func replace(_ permit: Permit, with results: Handled) {
        guard finishPublishing(permit), let first = lanes[permit.partition]?.publishing.first else { return }
        lanes[permit.partition]?.rewind(keeping: 1)
        lanes[permit.partition]?.handled = [Outcome(message: first.message, results: results)]
        updateReadiness(of: permit.partition)
    }

    /// Drops the partition of a batch that cannot be published.
    mutating func abandon(_ permit: Permit) {
        if finishPublishing(permit) { drop(permit.partition) }
    }

    /// Reports that the claim of a batch is no longer valid for its partition, or that the previous checkpoint is not
    /// recorded.
    mutating func lost(_ permit: Permit) -> Loss {
        guard finishPublishing(permit) else { return .waits }
        guard state == .suspended || permit.ownerGeneration != claim.ownerGeneration else {
            drop(permit.partition)
            return .needsClaim
        }
        // The claim was renewed after the step began, or is about to be renewed. The member may still own the
        // partition.
        lanes[permit.partition]?.keepResults()
        if let timer = timers[permit.partition]?.firing {
            timers[permit.partition]?.firing = nil
            timers[permit.partition]?.due.prepend(timer)
        }
        updateReadiness(of: permit.partition)
        return .waits
    }

    /// Returns false if the partition was dropped after the batch was published.
    private mutating func finishPublishing(_ permit: Permit) -> Bool {
        guard let index = lanes.index(forKey: permit.partition), lanes.values[index].isPublishing else { return false }
        lanes.values[index].isPublishing = false
        batchCount -= 1
        guard lanes.values[index].generation == permit.generation else {
            updateReadiness(of: permit.partition)
            return false
        }
        return true
    }

    private mutating func drop(_ partition: Partition) {
        timers[partition] = nil
        guard let messages = lanes[partition]?.drop() else { return }
        dropped.insert(partition)
        count -= messages.count
        size -= messages.reduce(0) { $0 + $1.data.count }
    }

    private mutating func updateReadiness(of partition: Partition) {
        guard let index = lanes.index(forKey: partition), !lanes.values[index].isReady else { return }
        guard lanes.values[index].isOwned || lanes.values[index].isBusy else {
            // The claim does not cover the partition, and no step of the partition is running any more.
            lanes[partition] = nil
            return
        }
        lanes.values[index].isReady = true
        ready.append(partition)
    }

    /// The offset up to which every message is handled as soon as the current batch of a partition is recorded.
    private func settled(without partition: Partition) -> UInt64 {
        let oldest = oldest {
            lanes.keys[$0] == partition ? lanes.values[$0].oldestUnpublished : lanes.values[$0].oldestUnfinished
        }
        return oldest.map { min($0 - 1, delivered) } ?? delivered
    }

    private func oldest(_ offset: (Dictionary<Partition, Lane>.Index) -> UInt64?) -> UInt64? {
        var oldest: UInt64?
        for index in lanes.indices where lanes.values[index].isOwned {
            guard let offset = offset(index) else { continue }
            oldest = min(oldest ?? offset, offset)
        }
        return oldest
    }
}

extension ConsumerClaim {
    /// True if no other member has claimed partitions since an earlier claim of this member.
    ///
    /// The owner generation grows by one each time a member claims newly assigned partitions, so a difference of at
    /// most one is due to this claim.
    func continues(_ earlier: ConsumerClaim) -> Bool {
        epoch == earlier.epoch && ownerGeneration <= earlier.ownerGeneration + 1
    }
}
