internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import OrderedCollections

/// The requests that the broker has not answered, in the order in which they were made.
///
/// A request is sent again after a reconnection and, unless it is a query, when the answer to a later hello shows that
/// it or its answer is lost: the broker answers the requests of a connection in order. An answer that is only late is
/// waited for, because a broker that is slow would have still more to do with copies. Batches get their sequence numbers
/// here.
struct Outbox {
    /// The number of unanswered requests at which further batches wait.
    static let capacity = 1024
    /// The number of bytes of unanswered batches at which further ones wait. A broker with keys ends the connections of a
    /// user of whom much more waits.
    static let size = 8 << 20

    typealias Instant = ContinuousClock.Instant

    /// A request to send. The owner calls ``recordSent(_:at:)`` if the socket has accepted it, or ``block()`` if it
    /// must wait.
    struct Sending {
        let id: UInt64
        let request: Request
    }

    /// The effect of a reply.
    enum Outcome {
        /// The request has been answered and removed.
        case answered(PendingRequest)
        /// The caller gets this error. An empty batch stays in the place of the request.
        case failed(BusError)
        /// The owner need not do anything: the reply is a repetition, the request was cancelled, or a batch will be
        /// sent again.
        case none
    }

    private let producer: ProducerID
    private var pending: OrderedDictionary<UInt64, PendingRequest> = [:]
    /// The batches that wait because the outbox is full. They have no sequence number yet, so a cancelled one leaves no
    /// gap.
    private var waiting: OrderedDictionary<UInt64, PendingRequest> = [:]
    /// The number of bytes of the unanswered batches.
    private var pendingSize = 0
    private var roundTrips = RoundTrips()
    /// The number of requests and copies that were sent.
    private var sentCount: UInt64 = 0
    /// The last sequence number that was assigned to a batch.
    private var sequence: UInt64 = 0
    /// The last sequence number of a transient batch. Transient batches are numbered separately.
    private var transientSequence: UInt64 = 0
    /// The highest sequence number that the broker has answered.
    private(set) var answeredSequence: UInt64 = 0
    /// True if the broker lacks a batch. When it answers the next hello, all unanswered requests are sent again.
    private(set) var isOutOfSequence = false
    /// True while the socket accepts requests.
    private var isOpen = false

    init(producer: ProducerID) {
        self.producer = producer
    }

    var count: Int { pending.count }
    var waitingCount: Int { waiting.count }
    var batchCount: Int { pending.values.count(where: \.isBatch) }
    /// The id of the oldest unanswered request; `nil` if there is none.
    var firstID: UInt64? { pending.keys.first }
    /// True if a request was sent on the current connection and is not answered.
    var awaitsAnswers: Bool { pending.values.contains { $0.resending.sentAt != nil } }
    /// The leased documents that unanswered batches publish, change or withdraw.
    var changingLeases: Set<DocumentName> {
        [pending.values, waiting.values].reduce(into: []) { keys, requests in
            for case let leases? in requests.lazy.map(\.leases) { keys.formUnion(leases.keys) }
        }
    }

    // MARK: Requests

    /// Adds a request. A batch waits if the outbox is full.
    /// - Returns: The request to send now; nil if it must wait.
    mutating func add(_ request: PendingRequest, id: UInt64) -> Sending? {
        guard request.isBatch, !waiting.isEmpty || !hasRoom else { return admit(request, id: id) }
        waiting[id] = request
        return nil
    }

    /// Admits waiting batches for which there is room now, in the order in which they were added.
    /// - Returns: The requests to send now.
    mutating func admitWaiting() -> [Sending] {
        guard hasRoom, !waiting.isEmpty else { return [] }
        var (count, size) = (0, pendingSize)
        for request in waiting.values {
            guard pending.count + count < Self.capacity, size < Self.size else { break }
            (count, size) = (count + 1, size + request.size)
        }
        let first = waiting.elements.prefix(count)
        waiting.removeFirst(count)
        return first.compactMap { admit($1, id: $0) }
    }

    private var hasRoom: Bool { pending.count < Self.capacity && pendingSize < Self.size }

    /// Adds a request to `pending`. A batch gets its sequence number here.
    private mutating func admit(_ request: PendingRequest, id: UInt64) -> Sending? {
        var request = request
        if case .publish(let batch) = request.request {
            request.request = .publish(numbered(batch))
        }
        pending[id] = request
        pendingSize += request.size
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

    /// Cancels a request. A batch that has a sequence number is sent nevertheless.
    /// - Returns: The request, if its caller was still waiting.
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

    /// Removes a request whose answer is no longer needed.
    mutating func remove(_ id: UInt64) {
        pendingSize -= pending.removeValue(forKey: id)?.size ?? 0
    }

    /// Replaces earlier registrations of served queries by `request`.
    mutating func supersedeServe(with request: Request) {
        guard pending.values.contains(where: \.isServe) else { return }
        pending.removeAll { $0.value.isServe && $0.value.purpose == .none }
        for index in 0..<pending.count where pending.values[index].isServe { pending.values[index].request = request }
    }

    /// Removes the requests that read messages or heads from the journal.
    mutating func removeReads() {
        pending.removeAll { $0.value.purpose.isRead }
    }

    /// Gives up the batches that record the progress of a durable consumer. A batch with a sequence number is replaced
    /// by an empty one; a waiting batch is removed.
    /// - Returns: The requests whose callers get an error.
    mutating func dropCheckpoints() -> [UInt64] {
        let held = pending.filter(\.value.hasCheckpoint).keys.filter { giveUp($0) }
        let removed = waiting.filter(\.value.hasCheckpoint).keys
        for id in removed { waiting[id] = nil }
        return Array(held) + Array(removed)
    }

    /// Removes all requests.
    /// - Returns: The requests whose callers get an error.
    mutating func close() -> [UInt64] {
        defer { (pending, waiting, isOpen) = ([:], [:], false) }
        return [pending, waiting].flatMap { $0.filter { $0.value.purpose == .caller }.keys }
    }

    // MARK: Sending

    /// Records that the socket has accepted a request.
    mutating func recordSent(_ id: UInt64, at now: Instant) {
        sentCount += 1
        pending[id]?.resending.send(at: now, place: sentCount, wait: roundTrips.wait)
    }

    /// Records that the socket accepts no more requests. Further requests wait.
    mutating func block() {
        isOpen = false
    }

    /// Records that the socket accepts requests again.
    /// - Returns: The requests that it has not accepted yet, in order.
    mutating func unblock() -> [Sending] {
        isOpen = true
        return pending.elements.lazy.filter { $1.resending.sentAt == nil }.map { Sending(id: $0, request: $1.request) }
    }

    /// Returns all requests, in order, to send them again. Waiting batches are not among them.
    mutating func resend(onNewConnection isNewConnection: Bool) -> [Sending] {
        for index in 0..<pending.count { pending.values[index].resending.reset(isNewConnection: isNewConnection) }
        return unblock()
    }

    /// True if the answer to a request other than a query is overdue.
    func hasOverdue(at now: Instant) -> Bool {
        isOpen && pending.values.contains { !$0.isQuery && $0.resending.isDue(at: now) }
    }

    /// A request to send again only because its answer is overdue; nil if it is not.
    func overdue(_ id: UInt64, at now: Instant) -> Sending? {
        guard isOpen, let request = pending[id], request.resending.isDue(at: now) else { return nil }
        return Sending(id: id, request: request.request)
    }

    /// Called after a hello was answered or refused. Returns the requests that were sent before its first copy and have
    /// no answer, to send them again. Queries are not among them, because they are answered by other clients.
    /// - Parameter recorded: The sequence number of the last recorded batch; nil if it is not known. Only the copies of
    ///   later batches are lost: those of others are recorded, although a further copy may be refused.
    mutating func lost(before hello: PendingRequest, recorded: UInt64?) -> [Sending] {
        guard isOpen, let place = hello.resending.places?.lowerBound else { return [] }
        var lost: [Sending] = []
        for index in 0..<pending.count {
            let (id, request) = pending.elements[index]
            guard !request.isQuery, let last = request.resending.places?.upperBound, last < place else { continue }
            if case .publish(let batch) = request.request, let recorded, batch.sequence > recorded {
                pending.values[index].resending.lose()
            }
            lost.append(Sending(id: id, request: request.request))
        }
        return lost
    }

    /// The queries that were sent, to send them again because the broker may have been started again.
    var sentQueries: [Sending] {
        guard isOpen else { return [] }
        return pending.elements.lazy.filter { $1.isQuery && $1.resending.sentAt != nil }
            .map { Sending(id: $0, request: $1.request) }
    }

    /// True if the answer to a query is not acknowledged.
    func isAnswering(_ query: UInt64) -> Bool {
        pending.values.contains { request in
            if case .answer(let answer) = request.request { answer.query == query } else { false }
        }
    }

    /// Replaces a refused request by another one.
    /// - Returns: The request to send now; nil if it must wait.
    mutating func replace(_ id: UInt64, with request: Request) -> Sending? {
        pending[id]?.request = request
        return isOpen ? Sending(id: id, request: request) : nil
    }

    // MARK: Answers

    /// An unanswered request; nil if there is none with this id.
    subscript(id: UInt64) -> Request? { pending[id]?.request }

    /// Handles a reply to a request.
    mutating func receive(_ reply: Reply, to id: UInt64, at now: Instant) -> Outcome {
        guard let request = pending[id] else { return .none }
        if case .refused(let error) = reply, request.isBatch {
            pending[id]?.resending.refuse()
            switch error.code {
            case .sequence:
                isOutOfSequence = true
                return .none
            case .journal:
                // The publisher may publish a refused batch again, so it is told only when no copy can be recorded.
                guard pending[id]?.resending.isUnderWay == false else { return .none }
                return giveUp(id) ? .failed(BusError(error)) : .none
            default: break
            }
        }
        remove(id)
        request.resending.roundTrip(at: now).map { roundTrips.record($0) }
        if case .publish(let batch) = request.request, !batch.isTransient {
            answeredSequence = max(answeredSequence, batch.sequence)
        }
        return .answered(request)
    }

    /// Replaces a batch by an empty one with the same sequence number, because later batches depend on the number. If
    /// the original was sent on an earlier connection, it may be recorded.
    /// - Returns: True if a caller must get an error.
    private mutating func giveUp(_ id: UInt64) -> Bool {
        guard let request = pending[id], case .publish(let batch) = request.request else { return false }
        pendingSize -= batch.messages.bytes.count
        let place = PublishRequest(producer: batch.producer, sequence: batch.sequence, messages: [])
        pending[id]?.request = .publish(place)
        pending[id]?.purpose = .none
        pending[id]?.leases = nil
        return request.purpose == .caller
    }

    /// Assigns new sequence numbers to the unanswered batches, except transient ones.
    /// - Parameter last: The sequence number of the last batch that the broker has.
    mutating func renumber(after last: UInt64) {
        (sequence, answeredSequence) = (last, last)
        for index in 0..<pending.count {
            guard case .publish(let batch) = pending.values[index].request, !batch.isTransient else { continue }
            pending.values[index].request = .publish(numbered(batch))
            pending.values[index].resending.reset(isNewConnection: false)
        }
        isOutOfSequence = true
    }

    /// Called after the broker has answered a hello. Returns all requests, to send them again, if the broker lacked a
    /// batch.
    mutating func restoreSequence() -> [Sending] {
        guard isOutOfSequence else { return [] }
        isOutOfSequence = false
        return resend(onNewConnection: false)
    }
}

/// A request that the broker has not answered.
struct PendingRequest {
    /// The use of the reply to a request.
    enum Purpose: Equatable {
        /// A caller waits for the reply.
        case caller
        case page(subscription: UInt64)
        /// The reply lists topics with new messages. If `judgeNow` is true, losses are looked for at once.
        case heads(subscriptions: [UInt64], judgeNow: Bool)
        case greeting
        /// The reply lists the partitions that the member of a claim owns now.
        case renewal(subscription: UInt64)
        /// No caller waits for the reply.
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
    /// The change to leased documents when the batch is recorded; nil if it changes none.
    var leases: LeasedDocuments.Change?
    var resending = Resending()

    var isBatch: Bool {
        if case .publish = request { true } else { false }
    }

    /// The number of bytes of a batch's messages; 0 for another request.
    var size: Int {
        if case .publish(let batch) = request { batch.messages.bytes.count } else { 0 }
    }

    /// True if the request records the progress of a durable consumer.
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
