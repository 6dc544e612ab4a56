package import BusFormat
internal import DequeModule
package import EventBus

/// The batches that a client is publishing.
///
/// A value without side effects: it gets calls, answers and times, and returns the ``Action``s to perform. JetStream
/// can reorder messages that are under way at the same time, for example when its leader changes. So each partition is
/// a *lane* with at most one message under way; a batch of several partitions holds all its lanes. In each lane the
/// batches are sent in the order of the calls. Batches that wait in the same lanes with the same subject are sent in
/// one message.
package struct Lanes: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The number of a call to publish, from the owner.
    package struct CallID: Hashable, Sendable {
        package let number: UInt64

        package init(_ number: UInt64) {
            self.number = number
        }
    }

    /// The place of a recorded batch.
    package struct Recorded: Hashable, Sendable {
        /// The epoch of the journal in which it was acknowledged.
        package let epoch: UInt64
        /// The sequence in the stream.
        package let sequence: UInt64
        /// The position of the last message of the call; nil if it has no messages.
        package let position: Position?

        /// - Parameter offset: The offset of the last message; nil if there are none.
        package init(epoch: UInt64, sequence: UInt64, offset: UInt64?) {
            self.epoch = epoch
            self.sequence = sequence
            position = offset.map { Position(epoch: epoch, offset: $0) }
        }
    }

    /// A message to publish. The server's answer, or its absence, is reported with the number.
    package struct Sending: Hashable, Sendable {
        package let number: UInt64
        package let subject: BusSubject
        package let message: BatchMessage
    }

    /// The search for a message with an id after a sequence of the stream. Its result is reported with
    /// ``Lanes/lookedUp(_:found:of:at:)``, its failure with ``Lanes/retry(_:after:at:)``.
    package struct LookUp: Hashable, Sendable {
        package let number: UInt64
        package let id: String
        package let sequence: UInt64

        package init(number: UInt64, id: String, sequence: UInt64) {
            (self.number, self.id, self.sequence) = (number, id, sequence)
        }
    }

    package enum Action: Sendable {
        case send(Sending)
        /// The call ends.
        case finish(CallID, Result<Recorded, BusError>)
        /// There is room for a call that ``Lanes/admit(_:size:)`` has queued. Add it before any later call.
        case admit(CallID)
    }

    package struct Configuration: Sendable {
        /// The number of calls at which further ones wait to be admitted.
        package var capacity = 1024
        /// The size of the messages of all calls, in bytes, at which further ones wait to be admitted.
        package var byteCapacity = 32 * 1024 * 1024
        /// The maximum size of a JetStream message with its headers: `max_payload` of the server.
        package var maximumPayload = 9 * 1024 * 1024
        /// The maximum size of the messages of one call. It is so much smaller than `maximumPayload` that a message of
        /// this size can be given up.
        package var maximumBatchSize = Limits.batchSize
        package var firstPause = Duration.milliseconds(100)
        package var longestPause = Duration.seconds(1)
        /// The time after the first sending during which the same id is safe to send again. It is shorter than the
        /// stream's `duplicate_window` of 2 minutes, because a message can be on its way for some time.
        package var resendingWindow = Duration.seconds(90)

        package init() {}
    }

    private enum Lane: Hashable {
        case partition(Partition)
        case owner(ConsumerPartition)
        case lease
        case settlement
    }

    private struct LaneState {
        /// The message that is under way.
        var current: UInt64?
        var waiting: Deque<CallID> = []
    }

    private struct Call {
        let publication: Publication
        let lanes: Set<Lane>
    }

    private struct UnderWay {
        enum State {
            case sent
            case lookingUp
            case pausing(until: Instant)
        }

        /// The calls whose batches are in the message, each with the index after its last message.
        var calls: [(id: CallID, end: Int)]
        let sending: Sending
        let lanes: Set<Lane>
        /// The end of the stream that was known at the first sending. The message, if it is stored, is after it.
        var knownEnd: UInt64
        /// The epoch for which the message was made; nil if it has no checkpoint.
        let epoch: UInt64?
        /// The time of the first sending, or of the last look-up that has found nothing.
        var windowStart: Instant
        let firstSending: Instant
        var pause: Duration
        var state = State.sent
        var isSentAgain = false
        /// The server's answer to a later sending, which says nothing about the earlier ones.
        var refusal: BusError?
    }

    private let producer: ProducerID
    private var configuration: Configuration
    /// The number of the last message. Messages are numbered from 1.
    private var lastNumber: UInt64 = 0
    private var knownEnd: UInt64 = 0
    /// The epoch of the journal; nil if it is not known.
    private var epoch: UInt64?
    private var lanes: [Lane: LaneState] = [:]
    private var calls: [CallID: Call] = [:]
    private var underWay: [UInt64: UnderWay] = [:]
    /// The sizes of the admitted calls.
    private var admitted: [CallID: Int] = [:]
    private var admittedBytes = 0
    /// The calls that are not admitted yet.
    private var outside: Deque<(id: CallID, size: Int)> = []

    package init(producer: ProducerID, configuration: Configuration = Configuration()) {
        self.producer = producer
        self.configuration = configuration
    }

    /// Changes the limits of further calls: the servers may have been started again with another `max_payload`.
    package mutating func limit(maximumPayload: Int, maximumBatchSize: Int) {
        configuration.maximumPayload = maximumPayload
        configuration.maximumBatchSize = maximumBatchSize
    }

    // MARK: Calls

    /// Reserves room for a call. A call that is not admitted waits, as a call to a full bus of any engine does. Its
    /// caller is not notified, and its batch need not be packed yet.
    /// - Parameter size: The approximate size of the messages in bytes.
    /// - Returns: True if the call can be added now; false if it must wait for the action `admit`.
    package mutating func admit(_ id: CallID, size: Int) -> Bool {
        guard outside.isEmpty, hasRoom(for: size) else {
            outside.append((id, size))
            return false
        }
        reserve(id, size)
        return true
    }

    /// Adds an admitted call. Its publication must have messages, progress or dead letters to settle.
    package mutating func add(_ id: CallID, _ publication: Publication, at now: Instant) -> [Action] {
        if admitted[id] == nil { reserve(id, publication.body.count) }
        let lanes = Self.lanes(of: publication)
        guard isCurrent(publication.epoch) else { return [.finish(id, .failure(Self.ended))] + release(id) }
        guard !lanes.isEmpty else {
            return refuse(id, "the batch is empty: it has nothing to record")
        }
        guard publication.messagesSize <= configuration.maximumBatchSize else {
            return refuse(
                id,
                "the messages of the batch have \(publication.messagesSize) bytes together, but the servers of this "
                    + "bus take at most \(configuration.maximumBatchSize); split it, or set max_payload: 9MB in the "
                    + "configuration of nats-server")
        }
        if let size = oversize(of: publication) {
            return refuse(
                id,
                "the batch has \(size) bytes with its headers and the message that it gives up, but the server takes "
                    + "\(configuration.maximumPayload); set max_payload: 9MB in the configuration of nats-server")
        }
        let call = Call(publication: publication, lanes: lanes)
        for lane in lanes { self.lanes[lane, default: LaneState()].waiting.append(id) }
        if isNext(id, call) { return [start(id, call, at: now)] }
        calls[id] = call
        return []
    }

    private mutating func refuse(_ id: CallID, _ reason: String) -> [Action] {
        [.finish(id, .failure(BusError(.refused, reason)))] + release(id)
    }

    /// Cancels a call. A message that has been sent is sent again nevertheless until it is answered, because later
    /// batches of its lanes must come after it.
    /// - Returns: True, and the calls that can be added now, if the batch will not be published.
    package mutating func cancel(_ id: CallID, at now: Instant) -> (isRemoved: Bool, actions: [Action]) {
        if let index = outside.firstIndex(where: { $0.id == id }) {
            outside.remove(at: index)
            return (true, admitWaiting())
        }
        if let call = calls.removeValue(forKey: id) {
            var next: Set<CallID> = []
            for lane in call.lanes {
                lanes[lane]?.waiting.removeAll { $0 == id }
                release(lane, &next)
            }
            return (true, start(next.sorted { $0.number < $1.number }, at: now) + release(id))
        }
        if let number = underWay.first(where: { $1.calls.contains { $0.id == id } })?.key {
            underWay[number]?.calls.removeAll { $0.id == id }
            return (false, release(id))
        }
        // Admitted and not added, or not known: a call that has ended, or was cancelled before.
        return (admitted[id] != nil, release(id))
    }

    /// Follows the journal to another epoch: it has lost its last messages. What was sent to record the progress of a
    /// claim does not belong to the new epoch.
    package mutating func follow(_ epoch: UInt64, at now: Instant) -> [Action] {
        guard epoch != self.epoch else { return [] }
        defer { self.epoch = epoch }
        guard self.epoch != nil else { return [] }
        self.epoch = epoch
        // What is under way is stored after the new end.
        knownEnd = 0
        for number in underWay.keys { underWay[number]?.knownEnd = 0 }
        var actions: [Action] = []
        for (id, call) in calls.sorted(by: { $0.key.number < $1.key.number }) where !isCurrent(call.publication.epoch) {
            actions += cancel(id, at: now).actions
            actions.append(.finish(id, .failure(Self.ended)))
        }
        for (number, message) in underWay.sorted(by: { $0.key < $1.key }) where !isCurrent(message.epoch) {
            underWay[number] = nil
            actions += end(message, at: now) { _ in .failure(Self.ended) }
        }
        return actions
    }

    private static let ended = BusError(.epoch, "the journal has lost its last messages; claim again")

    private func isCurrent(_ epoch: UInt64?) -> Bool { epoch == nil || self.epoch == nil || epoch == self.epoch }

    /// Ends all calls with an error.
    package mutating func close(_ error: BusError) -> [Action] {
        let ids = Set(calls.keys).union(admitted.keys).union(outside.map(\.id))
        (lanes, calls, underWay, admitted, outside, admittedBytes) = ([:], [:], [:], [:], [], 0)
        return ids.sorted { $0.number < $1.number }.map { .finish($0, .failure(error)) }
    }

    // MARK: Answers

    /// Records a sequence that the stream has reached.
    package mutating func see(_ sequence: UInt64) {
        knownEnd = max(knownEnd, sequence)
    }

    /// The id of a message that is under way; nil if there is none with this number.
    package func id(of number: UInt64) -> String? { underWay[number]?.sending.message.headers.id }

    /// Handles the acknowledgement of a message. An answer to an earlier sending counts, too; so does `duplicate`,
    /// whose sequence is that of the stored message.
    ///
    /// An acknowledgement of an epoch that has ended does not count: the message may be one of those that the journal
    /// has lost. It is sent again. If the journal still has it, its id prevents a second one.
    /// - Parameter epoch: The epoch of the journal when the message was sent.
    package mutating func acknowledged(
        _ number: UInt64, sequence: UInt64, of epoch: UInt64, at now: Instant
    ) -> [Action] {
        guard isCurrent(epoch) else {
            retry(number, at: now)
            return []
        }
        see(sequence)
        guard let message = underWay.removeValue(forKey: number) else { return [] }
        let count = message.sending.message.headers.count
        return end(message, at: now) { end in
            let offset = StreamPosition(sequence: sequence, index: end - 1, count: count)?.offset
            return .success(Recorded(epoch: epoch, sequence: sequence, offset: offset))
        }
    }

    /// Handles an answer after which the message must not be sent again.
    ///
    /// If the expectation of a message that was sent again does not hold, an earlier sending may have been stored and
    /// its acknowledgement lost. The next ``tick(at:)`` searches for it.
    package mutating func refused(_ number: UInt64, _ error: BusError, at now: Instant) -> [Action] {
        guard let message = underWay[number] else { return [] }
        if message.isSentAgain, error.code == .fenced {
            if case .lookingUp = message.state { return [] }
            underWay[number]?.refusal = error
            underWay[number]?.state = .pausing(until: now)
            return []
        }
        underWay[number] = nil
        return end(message, at: now) { _ in .failure(error) }
    }

    /// Sends a message again after a pause: the server did not answer in time, or answered that it cannot store the
    /// message now. Also for a look-up that failed.
    /// - Parameter pause: Nil for a pause that grows with each attempt.
    package mutating func retry(_ number: UInt64, after pause: Duration? = nil, at now: Instant) {
        guard var message = underWay[number] else { return }
        if case .pausing = message.state { return }
        message.state = .pausing(until: now + (pause ?? message.pause))
        if pause == nil { message.pause = min(message.pause * 2, configuration.longestPause) }
        underWay[number] = message
    }

    /// Sends everything again at the next ``tick(at:)``: a new connection has replaced the one on which the answers
    /// would have come.
    package mutating func reconnected(at now: Instant) {
        for number in underWay.keys { underWay[number]?.state = .pausing(until: now) }
    }

    /// Handles the result of a look-up.
    /// - Parameters:
    ///   - sequence: The sequence of the message; nil if the stream does not have it.
    ///   - epoch: The epoch of the journal that was searched.
    package mutating func lookedUp(
        _ number: UInt64, found sequence: UInt64?, of epoch: UInt64, at now: Instant
    ) -> [Action] {
        if let sequence { return acknowledged(number, sequence: sequence, of: epoch, at: now) }
        guard var message = underWay[number], case .lookingUp = message.state else { return [] }
        if let refusal = message.refusal {
            underWay[number] = nil
            return end(message, at: now) { _ in .failure(refusal) }
        }
        // An earlier copy that comes to the server after the look-up is at most as old as this window.
        message.windowStart = now
        message.state = .sent
        message.isSentAgain = true
        underWay[number] = message
        return [.send(message.sending)]
    }

    // MARK: Time

    /// The time of the next ``tick(at:)``; nil if none is needed.
    package var nextTick: Instant? {
        underWay.values.lazy.compactMap { if case .pausing(let until) = $0.state { until } else { nil } }.min()
    }

    /// The first sending of the oldest message that is under way; nil if there is none.
    package var oldestSending: Instant? { underWay.values.lazy.map(\.firstSending).min() }

    /// Returns what is due for the messages whose pauses have ended.
    package mutating func tick(at now: Instant) -> (actions: [Action], lookUps: [LookUp]) {
        var (actions, lookUps) = ([Action](), [LookUp]())
        for number in underWay.keys.sorted() {
            guard var message = underWay[number], case .pausing(let until) = message.state, until <= now else {
                continue
            }
            if message.refusal == nil, now - message.windowStart < configuration.resendingWindow {
                message.state = .sent
                message.isSentAgain = true
                actions.append(.send(message.sending))
            } else {
                message.state = .lookingUp
                lookUps.append(
                    LookUp(number: number, id: message.sending.message.headers.id, sequence: message.knownEnd))
            }
            underWay[number] = message
        }
        return (actions, lookUps)
    }

    // MARK: Lanes

    private static func lanes(of publication: Publication) -> Set<Lane> {
        var lanes = Set(publication.partitions.map { Lane.partition($0) })
        switch publication.subject {
        // Only one message that expects a fence, or a lease, can be under way: the server refuses a second one (10164).
        case .results(let owner, _), .progress(let owner): lanes.insert(.owner(owner))
        case .settlement: lanes.insert(.settlement)
        default: break
        }
        if publication.lease != nil { lanes.insert(.lease) }
        return lanes
    }

    /// Sends the calls, of these, that are the first ones in all their lanes.
    private mutating func start(_ ids: [CallID], at now: Instant) -> [Action] {
        var actions: [Action] = []
        for id in ids {
            guard let call = calls[id], isNext(id, call) else { continue }
            calls[id] = nil
            actions.append(start(id, call, at: now))
        }
        return actions
    }

    /// True if a call is the first one in all its lanes, and no message is under way there.
    private func isNext(_ id: CallID, _ call: Call) -> Bool {
        call.lanes.allSatisfy { lane in
            guard let state = lanes[lane] else { return false }
            return state.current == nil && state.waiting.first == id
        }
    }

    private mutating func start(_ id: CallID, _ first: Call, at now: Instant) -> Action {
        lastNumber += 1
        for lane in first.lanes {
            lanes[lane]?.waiting.removeFirst()
            lanes[lane]?.current = lastNumber
        }
        var parts = [(id: id, end: first.publication.count)]
        var message = message(of: first.publication, number: lastNumber)
        if first.publication.isMergeable { merge(into: &message, &parts, first) }
        let sending = Sending(number: lastNumber, subject: first.publication.subject, message: message)
        underWay[lastNumber] = UnderWay(
            calls: parts, sending: sending, lanes: first.lanes, knownEnd: knownEnd, epoch: first.publication.epoch,
            windowStart: now, firstSending: now, pause: configuration.firstPause)
        return .send(sending)
    }

    /// Adds the messages of the next calls of the same lanes, as long as their batches have the same subject and fit.
    private mutating func merge(
        into message: inout BatchMessage, _ parts: inout [(id: CallID, end: Int)], _ first: Call
    ) {
        guard let lane = first.lanes.first, lanes[lane]?.waiting.isEmpty == false else { return }
        var (body, count) = (message.body, message.headers.count)
        let sizeLimit = min(Limits.batchSize, configuration.maximumPayload - message.headers.size - 8)
        while let id = lanes[lane]?.waiting.first, let call = calls[id], call.lanes == first.lanes,
            call.lanes.allSatisfy({ lanes[$0]?.waiting.first == id }), call.publication.isMergeable,
            call.publication.subject == first.publication.subject,
            count + call.publication.count <= Limits.batchCount, body.count + call.publication.body.count <= sizeLimit
        {
            for lane in call.lanes { lanes[lane]?.waiting.removeFirst() }
            calls[id] = nil
            body += call.publication.body
            count += call.publication.count
            parts.append((id, count))
        }
        var headers = message.headers
        headers.count = count
        message = BatchMessage(headers: headers, body: body)
    }

    private func message(of publication: Publication, number: UInt64) -> BatchMessage {
        let id = publication.id ?? .batch(producer, number: number)
        return BatchMessage(
            headers: BatchHeaders(
                id: id.description, count: publication.count, progress: publication.progress,
                hasRejection: publication.hasRejection, resolvedDeadLetters: publication.resolvedDeadLetters,
                lease: publication.lease, expectation: publication.expectation),
            body: publication.body)
    }

    /// The size of the message for a batch, if it is larger than the server accepts; otherwise nil.
    private func oversize(of publication: Publication) -> Int? {
        // The headers have at most a few thousand bytes for consumer and progress, and 20 for each settled letter.
        let headersLimit = 8192 + 20 * publication.resolvedDeadLetters.count
        guard publication.body.count + headersLimit > configuration.maximumPayload else { return nil }
        let size = message(of: publication, number: .max).size
        return size > configuration.maximumPayload ? size : nil
    }

    /// Ends the calls of a message, and sends the next messages of its lanes.
    /// - Parameter result: Gets the index after the last message of a call.
    private mutating func end(
        _ message: UnderWay, at now: Instant, _ result: (Int) -> Result<Recorded, BusError>
    ) -> [Action] {
        var next: Set<CallID> = []
        for lane in message.lanes {
            lanes[lane]?.current = nil
            release(lane, &next)
        }
        var actions = next.isEmpty ? [] : start(next.sorted { $0.number < $1.number }, at: now)
        for call in message.calls { actions.append(.finish(call.id, result(call.end))) }
        for call in message.calls { actions += release(call.id) }
        return actions
    }

    /// Adds the first waiting call of a lane to `next`, and removes a lane that is not used.
    private mutating func release(_ lane: Lane, _ next: inout Set<CallID>) {
        guard let state = lanes[lane], state.current == nil else { return }
        if let first = state.waiting.first { next.insert(first) } else { lanes[lane] = nil }
    }

    // MARK: Room

    private func hasRoom(for size: Int) -> Bool {
        admitted.isEmpty
            || admitted.count < configuration.capacity && admittedBytes + size <= configuration.byteCapacity
    }

    private mutating func reserve(_ id: CallID, _ size: Int) {
        admitted[id] = size
        admittedBytes += size
    }

    private mutating func release(_ id: CallID) -> [Action] {
        admittedBytes -= admitted.removeValue(forKey: id) ?? 0
        return admitWaiting()
    }

    private mutating func admitWaiting() -> [Action] {
        var actions: [Action] = []
        while let first = outside.first, hasRoom(for: first.size) {
            outside.removeFirst()
            reserve(first.id, first.size)
            actions.append(.admit(first.id))
        }
        return actions
    }
}
