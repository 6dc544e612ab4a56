import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import ZeroMQEventBus

@Suite("Random histories of the client's protocol")
struct ClientStateMachineTests {
    @Test(
        "Restarts and lost connections cause no loss and no duplicate, and every request has an outcome",
        .timeLimit(.minutes(2)), arguments: 0..<15 as Range<UInt64>)
    func restarts(seed: UInt64) {
        run(ClientHistory(seed: seed, .restarts))
    }

    @Test(
        "All messages of a new journal are delivered once", .timeLimit(.minutes(2)),
        arguments: 0..<15 as Range<UInt64>)
    func newJournals(seed: UInt64) {
        run(ClientHistory(seed: seed, .newJournals))
    }

    @Test(
        "A journal that loses its end or forgets the client causes no missing message or outcome",
        .timeLimit(.minutes(2)), arguments: 0..<15 as Range<UInt64>)
    func lostEnds(seed: UInt64) {
        run(ClientHistory(seed: seed, .lostEnds))
    }

    private func run(_ history: consuming ClientHistory) {
        for _ in 1...1500 { history.step() }
        history.finish()
    }
}

@Suite("Outbox of a client")
struct OutboxPartTests {
    private let now = ContinuousClock.now

    private func batch(_ text: String) -> PendingRequest {
        let message = PublishedMessage(
            topic: "event.A.3e", subject: "default", key: "", header: [0x7b, 0x7d], data: Bytes(text.utf8))
        let request = PublishRequest(producer: ProducerID(), sequence: 0, messages: [message])
        return PendingRequest(request: .publish(request), purpose: .caller)
    }

    private func outbox(batches: Int) -> Outbox {
        var outbox = Outbox(producer: ProducerID())
        _ = outbox.unblock()
        for id in 0..<UInt64(batches) { _ = outbox.add(batch("\(id)"), id: id) }
        return outbox
    }

    /// The sequences and contents of the batches that are sent again.
    private func sent(_ sendings: [Outbox.Sending]) -> [String] {
        sendings.map { sending in
            guard case .publish(let batch) = sending.request else { return "?" }
            let texts = batch.contents.map { String(decoding: $0.data, as: UTF8.self) }
            return "\(batch.sequence):\(texts.joined())"
        }
    }

    @Test("A batch gets its sequence when there is room for it, so a cancelled one leaves no gap")
    func room() {
        var outbox = outbox(batches: Outbox.capacity + 3)
        #expect(outbox.waitingCount == 3)
        let cancelled = outbox.cancel(UInt64(Outbox.capacity))
        #expect(cancelled != nil)
        for id in 0..<2 as Range<UInt64> {
            guard case .answered = outbox.receive(.published(epoch: 1, offset: id + 1), to: id, at: now) else {
                Issue.record("a batch was not answered")
                return
            }
        }
        let admitted = sent(outbox.admitWaiting())
        #expect(admitted == ["1025:1025", "1026:1026"])
    }

    @Test("Large batches wait while so many bytes are unanswered that a broker with keys would end the connection")
    func size() {
        var outbox = outbox(batches: 0)
        let large = String(repeating: "x", count: 1 << 20)
        let sent = (0..<20).filter { outbox.add(batch(large), id: $0) != nil }
        #expect(sent == Array(0..<8))
        _ = outbox.receive(.published(epoch: 1, offset: 1), to: 0, at: now)
        let admitted = (outbox.admitWaiting().count, outbox.admitWaiting().count)
        #expect(admitted == (1, 0))
        let small = outbox.add(batch("small"), id: 20)
        #expect(small == nil, "it does not overtake")
    }

    @Test("A batch that cannot be recorded is replaced by an empty one until that is recorded")
    func place() {
        var outbox = outbox(batches: 2)
        let refusal = Reply.refused(ProtocolError(.journal, "the disk is full"))
        guard case .failed(let error) = outbox.receive(refusal, to: 0, at: now) else {
            Issue.record("its publisher is not told")
            return
        }
        #expect(error.code == .journal)
        guard case .none = outbox.receive(refusal, to: 0, at: now) else {
            Issue.record("its publisher is told twice")
            return
        }
        let again = sent(outbox.resend(onNewConnection: true))
        #expect(again == ["1:", "2:1"])
    }

    @Test("A request that was sent before an answered hello is lost, and one sent after it is not sent again")
    func lost() throws {
        var outbox = outbox(batches: 3)
        for id in [0, 1] as [UInt64] { outbox.recordSent(id, at: now) }
        let greeting = PendingRequest(request: .hello(Greeting(producer: ProducerID())), purpose: .greeting)
        let hello = outbox.add(greeting, id: 9)
        #expect(hello?.id == 9)
        outbox.recordSent(9, at: now)
        outbox.recordSent(2, at: now)
        let later = now + .seconds(9)
        #expect(outbox.hasOverdue(at: later))
        #expect(outbox.overdue(9, at: later)?.id == 9, "only the hello is sent again")
        outbox.recordSent(9, at: later)
        _ = outbox.receive(.published(epoch: 1, offset: 1), to: 0, at: later)
        guard
            case .answered(let answered) = outbox.receive(
                .welcome(Welcome(epoch: 1, head: 1, sequence: 1)), to: 9, at: later)
        else { throw BusError(.unavailable, "the hello is not answered") }
        let again = sent(outbox.lost(before: answered, recorded: 1))
        #expect(again == ["2:1"], "the third was sent after the first copy of the hello")
    }

    @Test("A batch whose answer was lost fails when a copy is refused, unless a hello has shown that it is recorded")
    func lostAnswer() throws {
        let refusal = Reply.refused(ProtocolError(.journal, "the disk is full"))
        for recorded in [nil, 0, 1] as [UInt64?] {
            var outbox = outbox(batches: 1)
            outbox.recordSent(0, at: now)
            _ = outbox.add(
                PendingRequest(request: .hello(Greeting(producer: ProducerID())), purpose: .greeting), id: 9)
            outbox.recordSent(9, at: now)
            let reply = recorded.map { Reply.welcome(Welcome(epoch: 1, head: 1, sequence: $0)) } ?? refusal
            guard case .answered(let hello) = outbox.receive(reply, to: 9, at: now) else {
                Issue.record("the hello is not answered")
                return
            }
            #expect(outbox.lost(before: hello, recorded: recorded).map(\.id) == [0])
            outbox.recordSent(0, at: now)
            let outcome = outbox.receive(refusal, to: 0, at: now)
            if case .failed = outcome { #expect(recorded == 0) } else { #expect(recorded != 0) }
        }
    }

    @Test("A batch that was sent twice fails if both copies are refused, and succeeds if one is recorded")
    func copies() {
        let refusal = Reply.refused(ProtocolError(.journal, "the disk is full"))
        for isRecorded in [false, true] {
            var outbox = outbox(batches: 1)
            for _ in 0..<2 { outbox.recordSent(0, at: now) }
            guard case .none = outbox.receive(refusal, to: 0, at: now) else {
                Issue.record("its publisher is told while a copy is under way")
                return
            }
            switch outbox.receive(isRecorded ? .published(epoch: 1, offset: 1) : refusal, to: 0, at: now) {
            case .answered: #expect(isRecorded)
            case .failed: #expect(!isRecorded)
            case .none: Issue.record("its publisher is not told")
            }
        }
    }

    @Test("Copies that were sent before a hello still count, but not those of an earlier connection")
    func copiesBeforeHello() {
        let refusal = Reply.refused(ProtocolError(.journal, "the disk is full"))
        for isNewConnection in [false, true] {
            var outbox = outbox(batches: 1)
            outbox.recordSent(0, at: now)
            _ = outbox.resend(onNewConnection: isNewConnection)
            outbox.recordSent(0, at: now)
            let outcome = outbox.receive(refusal, to: 0, at: now)
            if case .failed = outcome { #expect(isNewConnection) } else { #expect(!isNewConnection) }
        }
    }

    @Test(
        "A broker that lacks a batch receives all unanswered ones again after a hello, renumbered if needed")
    func sequence() {
        var outbox = outbox(batches: 3)
        _ = outbox.receive(.published(epoch: 1, offset: 1), to: 0, at: now)
        #expect(outbox.answeredSequence == 1)
        #expect(outbox.restoreSequence().isEmpty)
        guard case .none = outbox.receive(.refused(ProtocolError(.sequence, "2 is expected")), to: 2, at: now) else {
            Issue.record("a batch out of sequence is answered later")
            return
        }
        let again = sent(outbox.restoreSequence())
        #expect(again == ["2:1", "3:2"])
        outbox.renumber(after: 0)
        let renumbered = sent(outbox.restoreSequence())
        #expect(renumbered == ["1:1", "2:2"])
        #expect(!outbox.isOutOfSequence && outbox.answeredSequence == 0)
    }

    @Test("Dropped progress is reported to its publisher, and its batch keeps its sequence")
    func checkpoints() {
        var outbox = outbox(batches: 1)
        let checkpoint = CheckpointFrame(
            consumer: "c", ownerGeneration: 1, epoch: 1, offset: 5, settled: 5, partition: nil)
        let request = PublishRequest(producer: ProducerID(), sequence: 0, checkpoint: checkpoint, messages: [])
        _ = outbox.add(PendingRequest(request: .publish(request), purpose: .caller), id: 7)
        #expect(outbox.dropCheckpoints() == [7])
        #expect(outbox.dropCheckpoints().isEmpty)
        #expect(sent(outbox.resend(onNewConnection: true)) == ["1:0", "2:"])
    }

    @Test("A registration of queries that is sent again does not replace a newer one")
    func serve() {
        var outbox = outbox(batches: 0)
        func registration(_ name: String) -> Request {
            .serve(ServeRequest(producer: ProducerID(), types: [MessageType(kind: .query, name: name)]))
        }
        _ = outbox.add(PendingRequest(request: registration("A"), purpose: .caller), id: 1)
        _ = outbox.add(PendingRequest(request: registration("A"), purpose: .none), id: 2)
        let newest = registration("B")
        outbox.supersedeServe(with: newest)
        _ = outbox.add(PendingRequest(request: newest, purpose: .none), id: 3)
        let again = outbox.resend(onNewConnection: true)
        #expect(again.map(\.id) == [1, 3])
        #expect(again.allSatisfy { $0.request == newest })
    }

    @Test("Requests that the socket did not accept are sent first, in order, when it accepts requests again")
    func blocked() {
        var outbox = outbox(batches: 3)
        outbox.recordSent(0, at: now)
        outbox.block()
        let added = outbox.add(batch("3"), id: 3)
        #expect(added == nil && !outbox.hasOverdue(at: now + .seconds(9)))
        let unsent = sent(outbox.unblock())
        #expect(unsent == ["2:1", "3:2", "4:3"])
        #expect(outbox.hasOverdue(at: now + .seconds(9)))
    }
}

@Suite("The journal as a client knows it")
struct KnownJournalTests {
    private let welcome = Welcome(epoch: 1, head: 5, sequence: 0, mark: 9)

    @Test("A hello contains the last position that was seen, and the data of the last welcome of this epoch")
    func greeting() {
        let producer = ProducerID()
        var journal = KnownJournal(producer: producer)
        #expect(journal.greeting == Greeting(producer: producer, asksForMore: true))
        let isReplaced = journal.follow(1)
        #expect(!isReplaced, "the first epoch replaces no other")
        journal.record(welcome)
        #expect(!journal.hasGrown)
        journal.see(7, of: 1)
        journal.see(8, of: 2)
        #expect(journal.hasGrown)
        #expect(
            journal.greeting
                == Greeting(producer: producer, epoch: 1, offset: 7, head: 5, mark: 9, asksForMore: true))
        let isNew = journal.follow(2)
        #expect(isNew)
        #expect(journal.greeting == Greeting(producer: producer, epoch: 2, asksForMore: true))
        #expect(!journal.hasGrown)
    }

    @Test("A journal that ends before the position of a hello has lost its end, unless it is another one")
    func lostEnd() {
        var journal = KnownJournal(producer: ProducerID())
        _ = journal.follow(1)
        journal.see(6, of: 1)
        let greeting = journal.greeting
        #expect(journal.hasLostEnd(welcome, after: greeting))
        _ = journal.follow(2)
        #expect(!journal.hasLostEnd(welcome, after: greeting))
    }

    @Test("An older broker receives short hellos until it may have been replaced")
    func short() {
        var journal = KnownJournal(producer: ProducerID())
        journal.shortenGreetings()
        #expect(!journal.greeting.asksForMore)
        journal.lengthenGreetings()
        #expect(journal.greeting.asksForMore)
    }
}

@Suite("Queries that a process answers")
struct ServedQueriesTests {
    private func type(_ name: String) -> MessageType { MessageType(kind: .query, name: name) }

    private func query(_ name: String) -> PublishedMessage {
        PublishedMessage(topic: "query.\(name).3e", subject: "default", key: "", header: [1], data: [2])
    }

    private func server(_ reception: ServedQueries.Reception) -> UInt64? {
        if case .work(let server) = reception { server } else { nil }
    }

    private func reason(_ reception: ServedQueries.Reception) -> String? {
        if case .refuse(let reason) = reception { reason } else { nil }
    }

    @Test("A query goes once to the server of its type")
    func once() {
        var queries = ServedQueries()
        queries.add([type("A")], as: 1)
        queries.add([type("B")], as: 2)
        #expect(queries.types == [type("A"), type("B")])
        #expect(server(queries.receive(query("B"), id: 7, source: "s")) == 2)
        let repeated = queries.receive(query("B"), id: 7, source: "s")
        #expect(server(repeated) == nil && reason(repeated) == nil)
        queries.finish(7)
        #expect(server(queries.receive(query("B"), id: 7, source: "s")) == 2)
        #expect(queries.remove(2) == [7])
        #expect(reason(queries.receive(query("B"), id: 8, source: "s"))?.contains("no longer serves") == true)
    }

    @Test("A server with too many unanswered queries refuses the next one")
    func capacity() {
        var queries = ServedQueries()
        queries.add([type("A")], as: 1)
        for id in 0..<UInt64(ServedQueries.capacity) {
            #expect(server(queries.receive(query("A"), id: id, source: "s")) == 1)
        }
        #expect(
            reason(queries.receive(query("A"), id: 999, source: "s"))
                == "s already has 256 unanswered queries; ask again later")
        queries.finish(3)
        #expect(server(queries.receive(query("A"), id: 999, source: "s")) == 1)
    }
}
