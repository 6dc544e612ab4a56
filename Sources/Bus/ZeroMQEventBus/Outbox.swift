internal import BusProtocol
internal import EventBus
internal import OrderedCollections

/// The requests that the broker has not answered, in the order in which they were made.
///
/// The broker drops what it has when it goes away, and every request is safe to send twice: so a request stays here until it is
/// answered, and is sent again after a reconnection or when its answer is overdue. Batches get their sequence here.
struct Outbox {
    /// The number of requests beyond which a batch waits for room.
    static let capacity = 1024

    typealias Instant = ContinuousClock.Instant

    /// A request to send. The owner says ``noteSent(_:at:)`` when the socket has taken it, or ``block()``.
    struct Sending {
        let id: UInt64
        let request: Request
    }

    /// The effect of a reply.
    enum Outcome {
        /// The request has been answered; it is no longer here.
        case answered(PendingRequest)
        /// The request stays, and its caller is told this error.
        case failed(BusError)
        /// A repeated reply, or a batch that is sent again later.
        case none
    }

    private let producer: ProducerID
    private var pending: OrderedDictionary<UInt64, PendingRequest> = [:]
    /// Batches that have no room yet. They have no sequence: one that is cancelled leaves no gap.
    private var waiting: OrderedDictionary<UInt64, PendingRequest> = [:]
    private var roundTrips = RoundTrips()
    /// The sequence of the last batch that was given one.
    private var sequence: UInt64 = 0
    /// Transient batches have a count of their own: a broker that was restarted has forgotten it.
    private var transientSequence: UInt64 = 0
    /// The last batch that the broker has answered: it must have it, or it has forgotten this producer.
    private(set) var answeredSequence: UInt64 = 0
    /// Whether the broker lacks a batch before one that it got: its next welcome names the last that it has.
    private(set) var isOutOfSequence = false
    /// Whether the socket takes requests at the moment.
    private var isOpen = false

    init(producer: ProducerID) {
        self.producer = producer
    }

    var count: Int { pending.count }
    var waitingCount: Int { waiting.count }
    var batchCount: Int { pending.values.count(where: \.isBatch) }
    /// The request that was made first; `nil` while none is unanswered.
    var firstID: UInt64? { pending.keys.first }
    /// Whether an answer to a request is to come on the connection of the moment.
    var awaitsAnswers: Bool { pending.values.contains { $0.resending.sentAt != nil } }
    /// The leased documents that unanswered batches change.
    var changingLeases: Set<LeasedDocuments.Key> {
        [pending.values, waiting.values].reduce(into: []) { keys, requests in
            for case let leases? in requests.lazy.map(\.leases) { keys.formUnion(leases.keys) }
        }
    }

    // MARK: Requests

    /// Adds a request. A batch waits if there is no room.
    mutating func add(_ request: PendingRequest, id: UInt64) -> Sending? {
        guard request.isBatch, !waiting.isEmpty || pending.count >= Self.capacity else { return admit(request, id: id) }
        waiting[id] = request
        return nil
    }

    /// Admits batches for which there is room now, in the order in which they were added.
    mutating func admitWaiting() -> [Sending] {
        let room = max(0, Self.capacity - pending.count)
        guard room > 0, !waiting.isEmpty else { return [] }
        let first = waiting.elements.prefix(room)
        waiting.removeFirst(first.count)
        return first.compactMap { admit($1, id: $0) }
    }

    /// Numbers a batch as it enters, so that batches leave in the order of their sequences.
    private mutating func admit(_ request: PendingRequest, id: UInt64) -> Sending? {
        var request = request
        if case .publish(let batch) = request.request {
            request.request = .publish(numbered(batch))
        }
        pending[id] = request
        return isOpen ? Sending(id: id, request: request.request) : nil
    }

    private mutating func numbered(_ batch: PublishRequest) -> PublishRequest {
        if batch.isTransient {
            transientSequence += 1
            return batch.numbered(producer, transientSequence)
        }
        sequence += 1
        return batch.numbered(producer, sequence)
    }

    /// Stops waiting for an answer. A batch that has a sequence is sent on, because those after it count on it.
    /// - Returns: the request, if its caller still waited.
    mutating func cancel(_ id: UInt64) -> PendingRequest? {
        guard let request = waiting.removeValue(forKey: id) ?? pending[id], request.purpose == .caller else {
            return nil
        }
        if request.isBatch {
            pending[id]?.purpose = .none
        } else {
            pending[id] = nil
        }
        return request
    }

    /// Forgets a request, whose answer is not wanted any more.
    mutating func remove(_ id: UInt64) {
        pending[id] = nil
    }

    /// Brings registrations of queries up to date: an older one that is sent again after this one would undo it.
    mutating func supersedeServe(with request: Request) {
        guard pending.values.contains(where: \.isServe) else { return }
        pending.removeAll { $0.value.isServe && $0.value.purpose == .none }
        for index in 0..<pending.count where pending.values[index].isServe { pending.values[index].request = request }
    }

    /// Forgets what was asked about the journal's messages.
    mutating func removeReads() {
        pending.removeAll { $0.value.purpose.isRead }
    }

    /// Gives up the batches that record the progress of a durable consumer.
    /// - Returns: the requests whose callers are to be told.
    mutating func dropCheckpoints() -> [UInt64] {
        let held = pending.filter(\.value.hasCheckpoint).keys.filter { giveUp($0) }
        let removed = waiting.filter(\.value.hasCheckpoint).keys
        for id in removed { waiting[id] = nil }
        return Array(held) + Array(removed)
    }

    /// Forgets everything.
    /// - Returns: the requests whose callers are to be told.
    mutating func close() -> [UInt64] {
        defer { (pending, waiting, isOpen) = ([:], [:], false) }
        return [pending, waiting].flatMap { $0.filter { $0.value.purpose == .caller }.keys }
    }

    // MARK: Sending

    /// The socket has taken a request.
    mutating func noteSent(_ id: UInt64, at now: Instant) {
        pending[id]?.resending.send(at: now, wait: roundTrips.wait)
    }

    /// The socket takes no more requests. In order: after one that waits, everything waits.
    mutating func block() {
        isOpen = false
    }

    /// The socket takes requests: those that it has not taken yet are to be sent, in order.
    mutating func unblock() -> [Sending] {
        isOpen = true
        return pending.elements.lazy.filter { $1.resending.sentAt == nil }.map { Sending(id: $0, request: $1.request) }
    }

    /// Sends everything again, in order: the connection is another one.
    mutating func resend() -> [Sending] {
        for index in 0..<pending.count { pending.values[index].resending.reset() }
        return unblock()
    }

    /// Sends again what has waited too long, each for itself. A query has a deadline of its own.
    func overdue(at now: Instant) -> [Sending] {
        guard isOpen else { return [] }
        return pending.elements.lazy.filter { !$1.isQuery && $1.resending.isDue(at: now) }
            .map { Sending(id: $0, request: $1.request) }
    }

    /// Sends another request in place of one that was refused.
    mutating func replace(_ id: UInt64, with request: Request) -> Sending? {
        pending[id]?.request = request
        return isOpen ? Sending(id: id, request: request) : nil
    }

    // MARK: Answers

    /// Whether a request is unanswered.
    subscript(id: UInt64) -> Request? { pending[id]?.request }

    mutating func receive(_ reply: Reply, to id: UInt64, at now: Instant) -> Outcome {
        guard let request = pending[id] else { return .none }
        if case .refused(let error) = reply, request.isBatch {
            switch error.code {
            case .sequence:
                isOutOfSequence = true
                return .none
            case .journal: return giveUp(id) ? .failed(BusError(error)) : .none
            default: break
            }
        }
        pending[id] = nil
        request.resending.roundTrip(at: now).map { roundTrips.note($0) }
        if case .publish(let batch) = request.request, !batch.isTransient {
            answeredSequence = max(answeredSequence, batch.sequence)
        }
        return .answered(request)
    }

    /// Leaves an empty batch in the place of one that is given up, and sends that until it is taken: what was sent before may
    /// still be journalled, and the batches after it count on its sequence.
    /// - Returns: whether a caller is to be told.
    private mutating func giveUp(_ id: UInt64) -> Bool {
        guard let request = pending[id], case .publish(let batch) = request.request else { return false }
        let place = PublishRequest(producer: batch.producer, sequence: batch.sequence, messages: [])
        pending[id]?.request = .publish(place)
        pending[id]?.purpose = .none
        pending[id]?.leases = nil
        return request.purpose == .caller
    }

    /// Numbers the unanswered batches anew: the broker has forgotten batches that it had answered, and would never take one that
    /// has a sequence already. Transient batches have no place to lose.
    /// - Parameter last: the last batch that the broker has.
    mutating func renumber(after last: UInt64) {
        (sequence, answeredSequence) = (last, last)
        for index in 0..<pending.count {
            guard case .publish(let batch) = pending.values[index].request, !batch.isTransient else { continue }
            pending.values[index].request = .publish(numbered(batch))
            pending.values[index].resending.reset()
        }
        isOutOfSequence = true
    }

    /// A hello was answered: sends again what the broker lacks.
    mutating func restoreSequence() -> [Sending] {
        guard isOutOfSequence else { return [] }
        isOutOfSequence = false
        return resend()
    }
}

/// A request that the broker has not answered.
struct PendingRequest {
    /// The use of the reply.
    enum Purpose: Equatable {
        /// A caller waits for it.
        case caller
        case page(subscription: UInt64)
        /// - `judgeNow`: after a reconnection nothing is under way that could still come.
        case heads(subscriptions: [UInt64], judgeNow: Bool)
        case greeting
        /// What a claim owns now.
        case renewal(subscription: UInt64)
        /// Nobody waits. A batch is sent on, even if its publisher was cancelled, because those after it count on its sequence.
        case none

        var isRead: Bool {
            switch self {
            case .page, .heads: true
            default: false
            }
        }
    }

    var request: Request
    var purpose: Purpose
    /// What the batch makes of leased documents once it is journalled.
    var leases: LeasedDocuments.Change?
    var resending = Resending()

    var isBatch: Bool {
        if case .publish = request { true } else { false }
    }

    /// Whether it records the progress of a durable consumer.
    var hasCheckpoint: Bool {
        if case .publish(let batch) = request { batch.checkpoint != nil } else { false }
    }

    var isServe: Bool {
        if case .serve = request { true } else { false }
    }

    var isQuery: Bool {
        if case .ask = request { true } else { false }
    }
}
