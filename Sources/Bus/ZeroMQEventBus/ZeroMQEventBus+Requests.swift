internal import BusProtocol
internal import EventBus
internal import Foundation
internal import Logging
internal import OrderedCollections
internal import ZeroMQ

/// The outbox: every request waits here until it is answered.
extension ZeroMQEventBus {
    /// Batches under way at most; a publisher beyond it waits.
    static let outboxCapacity = 1024

    /// Asks, and waits for the answer however long the broker is away.
    /// - Parameter timeout: after which the request is forgotten; nil to wait for ever.
    /// - Throws: what the broker refuses, as ``BusError``; `CancellationError`.
    func ask(
        _ request: Request, timeout: Duration? = nil, leases: LeasedDocuments.Change? = nil
    ) async throws -> Reply {
        try Task.checkCancellation()
        let id = nextID()
        if let timeout {
            thread.perform(after: timeout) { [weak self] in
                self?.assumeIsolated { $0.cancel(id, throwing: BusError(.deadline, "no answer came in \(timeout)")) }
            }
        }
        let reply: Reply = try await suspend { continuation in
            guard state != .closed else {
                return continuation.resume(throwing: BusError(.closed, "the connection to \(address) was closed"))
            }
            enqueue(request, id: id, reply: .resume(continuation), leases: leases)
        } onCancel: {
            $0.cancel(id)
        }
        if case .refused(let error) = reply { throw BusError(error) }
        return reply
    }

    func enqueue(_ request: Request, reply: PendingRequest.ReplyHandler) {
        enqueue(request, id: nextID(), reply: reply)
    }

    /// A batch waits until the outbox has room. To look first and to enqueue later would not do: many may look at once.
    private func enqueue(
        _ request: Request, id: UInt64, reply: PendingRequest.ReplyHandler, leases: LeasedDocuments.Change? = nil
    ) {
        let new = PendingRequest(request: request, reply: reply, leases: leases)
        if new.isBatch, !waiting.isEmpty || pending.count >= Self.outboxCapacity {
            waiting[id] = new
        } else {
            admit(new, id: id)
        }
    }

    /// Numbers a batch when it enters the outbox, so that it leaves in that order.
    private func admit(_ new: PendingRequest, id: UInt64) {
        var new = new
        if case .publish(let batch) = new.request {
            new.request = .publish(numbered(batch))
        }
        pending[id] = new
        send(id)
    }

    private func admitWaiting() {
        let room = max(0, Self.outboxCapacity - pending.count)
        guard room > 0, !waiting.isEmpty else { return }
        let first = waiting.elements.prefix(room)
        waiting.removeFirst(first.count)
        for (id, batch) in first { admit(batch, id: id) }
    }

    private func numbered(_ batch: PublishRequest) -> PublishRequest {
        if batch.isTransient {
            transientSequence += 1
            return batch.numbered(producer, transientSequence)
        }
        sequence += 1
        return batch.numbered(producer, sequence)
    }

    func sendUnsent() {
        ingressWatch?.wantsWrite = false
        for id in pending.filter({ $0.value.resending.sentAt == nil }).keys {
            send(id)
        }
    }

    /// Sends all again, in order. Every request is safe to send twice.
    func resend() {
        for id in pending.keys {
            pending[id]?.resending.reset()
        }
        sendUnsent()
    }

    /// Sends again what has waited too long, each for itself. A query has a deadline of its own.
    private func resendOverdue() {
        awaitsOverdue = false
        let now = ContinuousClock.now
        let due = pending.elements.lazy.filter { !$0.value.isQuery && $0.value.resending.isDue(at: now) }.map(\.key)
        for id in Array(due) { send(id) }
        // The sooner a hello has told of the journal's end, the less can be lost without a mark. This one is looked after, too,
        // and so on while the journal grows.
        if let lastWelcome, lastWelcome.epoch == epoch, lastWelcome.head < lastSeen { greet() }
        if pending.values.contains(where: { $0.resending.sentAt != nil }) { awaitOverdue() }
    }

    private func awaitOverdue() {
        guard !awaitsOverdue else { return }
        awaitsOverdue = true
        thread.perform(after: Resending.shortestWait) { [weak self] in self?.assumeIsolated { $0.resendOverdue() } }
    }

    private func send(_ id: UInt64) {
        // In order: behind one that waits, everything waits.
        guard let ingress, let ingressWatch, !ingressWatch.wantsWrite, let request = pending[id]?.request else {
            return
        }
        do {
            if try ingress.send(request.frames(id: id)) {
                pending[id]?.resending.send(at: .now, wait: roundTrips.wait)
                awaitOverdue()
            } else {
                ingressWatch.wantsWrite = true
            }
        } catch {
            logger.error("a request could not be sent", metadata: ["error": "\(error)"])
        }
    }

    func cancel(_ id: UInt64, throwing error: any Error = CancellationError()) {
        guard let request = waiting.removeValue(forKey: id) ?? pending[id],
            case .resume(let continuation?) = request.reply
        else { return }
        // What was never sent the broker need not be told of: it may be away for long.
        if case .ask = request.request, request.resending.sentAt != nil {
            enqueue(.cancel(id), reply: .ignored)
        }
        if request.isBatch {
            // None that has yet to enter: no other counts on its sequence.
            pending[id]?.reply = .resume(nil)
        } else {
            pending[id] = nil
        }
        continuation.resume(throwing: error)
    }

    private func nextID() -> UInt64 {
        lastID += 1
        return UInt64(lastID)
    }

    func takeReplies() {
        do {
            while let frames = try ingress?.receive() {
                lastHeard = .now
                quietIngress.hear()
                if let notice = try Notice(frames) {
                    take(notice)
                    continue
                }
                let (id, reply) = try Reply.read(frames)
                handle(reply, to: id)
            }
        } catch {
            logger.error("the broker's answer cannot be read", metadata: ["error": "\(error)"])
        }
        if isOutOfSequence {
            greet()
        }
        admitWaiting()
        readPages()
    }

    private func handle(_ reply: Reply, to id: UInt64) {
        guard let request = pending[id] else { return }
        if case .refused(let error) = reply, request.isBatch {
            switch error.code {
            case .sequence:
                isOutOfSequence = true
                return
            case .journal: return giveUp(request, id: id, error)
            default: break
            }
        }
        if case .refused(let error) = reply, error.code == .malformed, case .hello(let greeting) = request.request,
            greeting.asksForMore
        {
            // A broker of the version before takes only the short form.
            takesLongGreetings = false
            pending[id]?.request = .hello(self.greeting)
            return send(id)
        }
        pending[id] = nil
        request.resending.roundTrip(at: lastHeard).map { roundTrips.note($0) }
        if case .publish(let batch) = request.request { noteAnswer(to: batch) }
        if let leases = request.leases, case .published = reply {
            leased.apply(leases, of: id)
            leased.forgetWithdrawn(before: pending.keys.first ?? .max)
        }
        switch request.reply {
        case .resume(let continuation):
            if case .welcome(let welcome) = reply, case .hello(let greeting) = request.request {
                follow(welcome, after: greeting)
            }
            if case .published(let epoch, let offset) = reply { see(offset, of: epoch) }
            continuation?.resume(returning: reply)
            if case .bye = request.request { close() }
        case .welcome(let answered, let leased, let pollsHeads):
            isGreeting = false
            guard case .welcome(let welcome) = reply, case .hello(let greeting) = request.request else { break }
            follow(welcome, after: greeting)
            compare(welcome, answered: answered)
            compare(welcome, leased: leased)
            if pollsHeads { pollHeads(head: welcome.head, judgeNow: false) }
        case .heads(let asking, let judgeNow):
            guard case .heads(let heads) = reply, heads.epoch == epoch else { break }
            receive(heads, for: asking, judgeNow: judgeNow)
        case .page(let id): receive(reply, for: id)
        case .renewal(let id): renewed(reply, for: id)
        case .ignored: break
        }
    }

    private func noteAnswer(to batch: PublishRequest) {
        guard !batch.isTransient else { return }
        answeredSequence = max(answeredSequence, batch.sequence)
    }

    /// Sends again what the broker lacks. If it lacks what it has answered, it has forgotten this producer, or lost the
    /// journal's end: then nothing that has its sequence already would ever be taken, and is numbered anew.
    ///
    /// Only a hello that was said after an answer tells anything of it: it may have waited for a broker whose journal was put
    /// back, and the next one tells that broker so.
    private func compare(_ welcome: Welcome, answered: UInt64) {
        if welcome.sequence < answered {
            logger.warning(
                "the broker has forgotten batches",
                metadata: ["answered": "\(answeredSequence)", "left": "\(welcome.sequence)"])
            dropClaims()
            (sequence, answeredSequence) = (welcome.sequence, welcome.sequence)
            renumber()
            isOutOfSequence = true
        }
        guard isOutOfSequence else { return }
        isOutOfSequence = false
        resend()
    }

    /// Numbers the batches that are unanswered. Transient ones have no place to lose.
    private func renumber() {
        for (id, request) in pending {
            guard case .publish(let batch) = request.request, !batch.isTransient else { continue }
            pending[id]?.request = .publish(numbered(batch))
            pending[id]?.resending.reset()
        }
    }

    /// Tells the publisher. Its batch stays as an empty one, which is sent until it is taken: what was sent before may
    /// still be journalled, and the batches behind it count on its sequence.
    private func giveUp(_ request: PendingRequest, id: UInt64, _ error: ProtocolError) {
        guard case .publish(let batch) = request.request else { return }
        let place = PublishRequest(producer: batch.producer, sequence: batch.sequence, messages: [])
        pending[id]?.request = .publish(place)
        pending[id]?.reply = .resume(nil)
        pending[id]?.leases = nil
        guard case .resume(let continuation?) = request.reply else { return }
        continuation.resume(throwing: BusError(error))
    }

    /// Takes note of how long the journal is known to be.
    func see(_ offset: UInt64, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        lastSeen = max(lastSeen, offset)
    }

    /// Publishes the leased documents again when the broker holds fewer of them than it has acknowledged: this process was
    /// silent for too long. Another process may have taken one over, so this is done no more often than leases end. What a
    /// journal holds that has lost its end may be older documents.
    private func compare(_ welcome: Welcome, leased count: Int) {
        let isMissing = welcome.more.map { $0.leased < min(count, leased.count) } ?? false
        let isDue = lastLeaseRenewal.map { .now - $0 > .seconds(5) } ?? true
        if areLeasesInDoubt || isMissing && isDue { renewLeases() }
        areLeasesInDoubt = false
    }

    private func renewLeases() {
        // Batches under way bring what is newer, or withdraw what is older.
        let changing = [pending, waiting].flatMap { $0.values.flatMap { $0.leases.map { Array($0.keys) } ?? [] } }
        let batches = leased.batches(except: Set(changing))
        guard !batches.isEmpty else { return }
        lastLeaseRenewal = .now
        logger.notice("leased documents are published again", metadata: ["count": "\(leased.count)"])
        for messages in batches {
            let request = PublishRequest(producer: producer, sequence: 0, isLeased: true, messages: messages)
            enqueue(.publish(request), reply: .ignored)
        }
    }

    /// The journal has lost what this client has seen of it since its last hello: no mark tells the broker of that. What comes
    /// there now is new.
    private func takeBack(to head: UInt64) {
        logger.warning(
            "the journal has lost its end; what comes in its place is read",
            metadata: ["seen": "\(lastSeen)", "end": "\(head)"])
        lastSeen = head
        // A page that was asked for beyond the end would leave out what comes before it.
        pending.removeAll { request in
            switch request.value.reply {
            case .page, .heads: true
            default: false
            }
        }
        for subscriber in subscribers.values { subscriber.takeBack(to: head) }
        dropClaims()
        areLeasesInDoubt = true
    }

    /// Lets durable consumers claim again: what they have recorded may be lost. Progress that is under way would count what they
    /// have handled before as well.
    private func dropClaims() {
        for subscriber in subscribers.values where subscriber.claim != nil { subscriber.finish() }
        let error = ProtocolError(.epoch, "the journal has lost its end")
        for (id, request) in pending where request.hasCheckpoint { giveUp(request, id: id, error) }
        for (id, request) in waiting where request.hasCheckpoint {
            waiting[id] = nil
            if case .resume(let continuation?) = request.reply { continuation.resume(throwing: BusError(error)) }
        }
    }

    /// Says hello with what has been seen now, though an earlier hello was not answered: it may be another broker that will.
    func greetAgain() {
        pending.removeAll { request in
            if case .welcome = request.value.reply { true } else { false }
        }
        isGreeting = false
        greet()
    }

    private func follow(_ welcome: Welcome, after greeting: Greeting) {
        follow(epoch: welcome.epoch, start: welcome.more?.start)
        if greeting.epoch == epoch, welcome.head < greeting.offset { takeBack(to: welcome.head) }
        lastWelcome = welcome
        see(welcome.head, of: welcome.epoch)
    }

    /// In another epoch no offset means what it meant: everything is read anew. Which batches of this producer the journal has is
    /// what the answer to a hello says, as ever: it may be the same file.
    /// - Parameter start: where the epoch began; nil from a broker that does not say.
    func follow(epoch new: UInt64, start: UInt64? = nil) {
        guard new != epoch else { return }
        defer { epoch = new }
        guard epoch != 0 else { return }
        takesLongGreetings = true
        logger.warning("the broker has a new journal", metadata: ["epoch": "\(String(new, radix: 16))"])
        lastSeen = 0
        for subscriber in subscribers.values {
            // A claim counts in the journal that it was made in: its consumer claims again.
            if subscriber.claim != nil { subscriber.finish() }
            subscriber.restart(from: start ?? 0)
        }
        areLeasesInDoubt = true
    }
}
