import BusFormat
import BusProtocol
import EventBus
import Foundation
import TestSupport
import Testing

@testable import ZeroMQEventBus

/// A random history of a client's state machine and a model broker. Two lossy connections are between them. The test
/// advances the clock. Callers publish, subscribe, read, consume, ask and serve at random. Each broken rule is recorded
/// as an issue. ``finish()`` ends the faults and checks the final state.
struct ClientHistory: ~Copyable {
    /// The faults besides losses, delays and repeated replies.
    enum Faults: CaseIterable {
        /// The broker restarts, and at times its journal cannot be written.
        case restarts
        /// As ``restarts``, and the journal may be replaced by a new one.
        case newJournals
        /// As ``newJournals``, and the journal may lose its end or forget the client.
        case lostEnds
    }

    /// A message that the client receives on the ingress.
    private enum Incoming {
        case reply(Reply, to: UInt64)
        case notice(Notice)
    }

    private enum Outcome {
        case accepted
        case refused
        case failed
    }

    private struct Publication {
        let texts: [String]
        var outcome: Outcome?
    }

    /// A subscription and the messages that it received.
    private struct Reader {
        let prefixes: [String]
        let isFromNow: Bool
        let claim: ConsumerClaim?
        /// The position at which the subscription began, in the epoch in which it became live; nil until it is live.
        var origin: Position?
        var isWaiting = false
        var hasEnded = false
        var delivered: [FeedMessage] = []
    }

    private let faults: Faults
    private let isOld: Bool
    private var generator: SeededGenerator
    private var machine: ClientStateMachine
    private var broker = ModelBroker()
    private var now = ContinuousClock.now
    private var wakes: [ContinuousClock.Instant] = []
    private var nextTick: ContinuousClock.Instant
    private var closeAt: ContinuousClock.Instant?

    // The connections.
    private var requests: [(id: UInt64, request: Request)] = []
    private var incoming: [Incoming] = []
    private var feed: [ModelBroker.Packet] = []
    private var feedPrefixes: [String] = []
    private var isConnected = false
    private var isFull = false
    private var isQuiet = false
    private var isDeaf = false
    /// The head in the packet of the feed that the client is handling.
    private var confirmedHead: UInt64 = 0

    // The callers.
    private var batches: [UInt64: Publication] = [:]
    private var asked: Set<UInt64> = []
    private var readers: [UInt64: Reader] = [:]
    private var lastText = 0
    private let member = ConsumerMember.shared
    private var claiming: UInt64?
    private var server: UInt64?
    private var work: Set<UInt64> = []
    private var lastQuery: UInt64 = 0
    /// The times at which the callers of queries cancel them.
    private var deadlines: [(time: ContinuousClock.Instant, id: UInt64)] = []
    /// The leased documents as last acknowledged, by key.
    private var held: [String: String] = [:]
    private var holding: [UInt64: (key: String, text: String)] = [:]

    /// The contents of the sent batches by sequence number, since batches were last renumbered.
    private var sent: [UInt64: [String]] = [:]
    private var lastSequence: UInt64 = 0

    private static let query = MessageType(kind: .query, name: "Q")

    init(seed: UInt64, _ faults: Faults) {
        self.faults = faults
        generator = SeededGenerator(seed: seed)
        // An old broker does not say where an epoch began.
        isOld = faults == .restarts && seed.isMultiple(of: 5)
        broker.isOld = isOld
        let id = { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }
        let address = try? BusAddress(seed.isMultiple(of: 2) ? "ipc:///tmp/model" : "tcp://localhost:4000")
        machine = ClientStateMachine(
            address: address.unsafelyUnwrapped, source: "model/1", producer: ProducerID(id(1)),
            client: ProducerID(id(2)))
        nextTick = now
        feedPrefixes = machine.feedPrefixes
        subscribeFeed(to: machine.open(at: now))
        connect()
    }

    // MARK: A step

    mutating func step() {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<16: publish()
        case 16..<20: if readers.count < 5 { subscribe() }
        case 20..<21: leaveSubscription()
        case 21..<34: read()
        case 34..<54: for _ in 0..<some() { serveRequest() }
        case 54..<72: for _ in 0..<some() { receiveReply() }
        case 72..<84: for _ in 0..<some() { receivePacket() }
        case 84..<92: pass(.milliseconds(Int.random(in: 10...300, using: &generator)))
        case 92: pass(.seconds(1))
        case 93:
            if let id = asked.sorted().randomElement(using: &generator) {
                cancel(id)
            }
        case 94: if oneIn(3) { broker.isReadable.toggle() } else { isFull.toggle() }
        case 95: if oneIn(3) { broker.endLeases() } else { broker.isWritable.toggle() }
        case 96: if oneIn(2) { breakConnection() }
        case 97: consume()
        case 98: ask()
        default: query()
        }
        if !isFull, isConnected { writable() }
    }

    private mutating func some() -> Int {
        Int.random(in: 1...3, using: &generator)
    }

    private mutating func oneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &generator) == 0
    }

    private mutating func pass(_ time: Duration) {
        now += time
        while let wake = wakes.firstIndex(where: { $0 <= now }) {
            wakes.remove(at: wake)
            send(machine.wake(at: now))
        }
        if nextTick <= now, machine.isOpen {
            nextTick = now + .seconds(1)
            perform(machine.tick(at: now) { _, delivered in delivered })
        }
        while let first = deadlines.first, first.time <= now {
            deadlines.removeFirst()
            cancel(first.id)
        }
        if let end = closeAt, end <= now { close() }
    }

    // MARK: Connections

    private mutating func breakConnection() {
        (requests, incoming, feed, isConnected) = ([], [], [], false)
        _ = broker.drainPackets()
        switch (faults, Int.random(in: 0..<4, using: &generator)) {
        case (.newJournals, 0), (.lostEnds, 0): broker.replaceJournal()
        case (.lostEnds, 1): broker.cut(to: Int.random(in: 0...broker.journal.count, using: &generator))
        case (.lostEnds, 2): broker.forgetProducer()
        default: break
        }
        broker.restart()
        work = []
        connect()
    }

    /// Connects to the broker. libzmq repeats the subscriptions in alphabetical order.
    private mutating func connect() {
        isConnected = true
        for prefix in feedPrefixes.sorted() { broker.subscribe(prefix) }
        collect()
    }

    private mutating func writable() {
        send(machine.unblock())
    }

    private mutating func collect() {
        for packet in broker.drainPackets() where !isDeaf && (isQuiet || !oneIn(8)) { feed.append(packet) }
    }

    private mutating func serveRequest() {
        guard !requests.isEmpty else { return }
        let (id, request) = requests.removeFirst()
        let reply = broker.answer(request)
        collect()
        if isQuiet || !oneIn(20) { incoming.append(.reply(reply, to: id)) }
        if !isQuiet, oneIn(20) { incoming.append(.reply(reply, to: id)) }
    }

    private mutating func receiveReply() {
        guard !incoming.isEmpty else { return }
        switch incoming.removeFirst() {
        case .reply(let reply, let id): perform(machine.receive(reply, to: id, at: now), for: reply)
        case .notice(let notice): perform(machine.receive(notice, at: now))
        }
    }

    private mutating func receivePacket() {
        guard !feed.isEmpty else { return }
        switch feed.removeFirst() {
        case .answer(let inbox, let epoch, let head):
            confirmedHead = head
            perform(machine.confirm(inbox: inbox, epoch: epoch, head: head))
        case .messages(let messages): perform(machine.receive(live: messages))
        }
    }

    // MARK: Actions

    private mutating func perform(_ actions: ClientStateMachine.TickActions) {
        end(actions.endedWaits)
        for action in actions.feed {
            switch action {
            case .subscribe(let prefixes): subscribeFeed(to: prefixes)
            case .unsubscribe(let prefixes): unsubscribeFeed(from: prefixes)
            case .renew(let prefixes):
                for prefix in feedPrefixes { broker.unsubscribe(prefix) }
                (feed, feedPrefixes) = ([], prefixes)
                for prefix in prefixes.sorted() { broker.subscribe(prefix) }
                collect()
            }
        }
        if actions.renewsIngress { (requests, incoming) = ([], []) }
        send(actions.sendings)
    }

    private mutating func perform(_ actions: ClientStateMachine.ReplyActions, for reply: Reply) {
        for (id, _) in actions.failures { fail(id) }
        if let id = actions.answeredID { finish(id, reply) }
        end(actions.endedWaits)
        if actions.closes { closeAt = now } else { send(actions.sendings) }
    }

    private mutating func perform(_ actions: ClientStateMachine.ConfirmActions) {
        unsubscribeFeed(from: actions.unsubscribed)
        switch actions.outcome {
        case .live(let id):
            #expect(readers[id]?.origin == nil, "a subscription is confirmed once")
            let isFromNow = readers[id]?.isFromNow == true
            let offset = isFromNow ? confirmedHead : readers[id]?.claim?.position.offset ?? 0
            readers[id]?.origin = Position(epoch: machine.journal.epoch, offset: offset)
        case .refused(let id, let error):
            #expect(error.code == .epoch)
            readers[id] = nil
        case nil: break
        }
        send(actions.sendings)
    }

    private mutating func perform(_ actions: ClientStateMachine.LiveActions) {
        end(actions.endedWaits)
        send(actions.sendings)
    }

    private mutating func perform(_ action: ClientStateMachine.NoticeAction) {
        switch action {
        case .work(let query, _, _, let server):
            #expect(server == self.server)
            #expect(work.insert(query).inserted, "a query is worked on once")
        case .stopWork(let query): work.remove(query)
        case .refuse(let sendings): send(sendings)
        case .none: break
        }
    }

    private mutating func send(_ sendings: ClientStateMachine.Sendings) {
        for sending in sendings.requests { send(sending.request, id: sending.id) }
        if sendings.wakes { wakes.append(now + Resending.shortestWait) }
    }

    private mutating func send(_ request: Request, id: UInt64) {
        guard isConnected, !isFull else { return machine.block() }
        if case .publish(let batch) = request { check(batch) }
        requests.append((id, request))
        machine.recordSent(id, at: now)
    }

    private mutating func subscribeFeed(to prefixes: [String]) {
        for prefix in prefixes {
            feedPrefixes.append(prefix)
            broker.subscribe(prefix)
        }
        collect()
    }

    private mutating func unsubscribeFeed(from prefixes: [String]) {
        for prefix in prefixes {
            if let index = feedPrefixes.lastIndex(of: prefix) { feedPrefixes.remove(at: index) }
            broker.unsubscribe(prefix)
        }
    }

    private mutating func end(_ waits: [SubscriptionTable.EndedWait]) {
        for wait in waits { endWait(of: wait.subscription, with: wait.result) }
    }

    private mutating func endWait(of id: UInt64, with result: Subscription.HandOver) {
        switch result {
        case .messages(let messages): deliver(messages, to: id)
        case .failure: readers[id]?.isWaiting = false
        }
    }

    private mutating func close() {
        guard let actions = machine.close() else { return }
        #expect(actions.error.code == .closed)
        for id in actions.requests { fail(id) }
        for id in actions.unconfirmed { readers[id] = nil }
        for id in actions.live { readers[id]?.isWaiting = false }
    }

    private mutating func check(_ batch: PublishRequest) {
        guard !batch.isTransient else { return }
        let texts = batch.contents.map { String(decoding: $0.data, as: UTF8.self) }
        if let before = sent[batch.sequence], before == texts || texts.isEmpty { return }
        if batch.sequence != lastSequence + 1 {
            #expect(faults != .restarts, "batch \(batch.sequence) follows \(lastSequence), or its content has changed")
            sent = [:]
        }
        sent[batch.sequence] = texts
        lastSequence = batch.sequence
        if faults == .restarts, let checkpoint = batch.checkpoint { check(checkpoint) }
    }

    /// Checks that every message that counts as handled was delivered to the reader.
    private func check(_ checkpoint: CheckpointFrame) {
        guard
            let reader = readers.values.first(where: { $0.claim?.ownerGeneration == checkpoint.ownerGeneration }),
            let claim = reader.claim, checkpoint.offset > claim.position.offset
        else { return }
        let given = Set(reader.delivered.map(\.offset))
        let counted = broker.journal[Int(claim.position.offset)..<Int(checkpoint.offset)]
        let missing = counted.map(\.feed).filter { $0.topic.hasPrefix("event.") && !given.contains($0.offset) }
        #expect(missing.isEmpty, "a checkpoint counts messages as handled that were not delivered")
    }

    private mutating func finish(_ id: UInt64, _ reply: Reply) {
        switch reply {
        case .published(_, let offset):
            settle(id, .accepted)
            if offset > 0, let (key, text) = holding[id] { held[key] = text }
        case .claimed(let claimed) where id == claiming:
            claiming = nil
            consume(under: claimed)
        default: settle(id, .refused)
        }
        asked.remove(id)
    }

    private mutating func fail(_ id: UInt64) {
        settle(id, .failed)
        if claiming == id { claiming = nil }
        asked.remove(id)
    }

    private mutating func settle(_ id: UInt64, _ outcome: Outcome) {
        guard batches[id] != nil else { return }
        #expect(batches[id]?.outcome == nil, "a batch has one outcome")
        batches[id]?.outcome = outcome
    }

    // MARK: Requests

    private mutating func ask(_ request: Request, publishing batch: Batch? = nil, id: UInt64) {
        switch machine.ask(request, publishing: batch, id: id) {
        case .send(let sendings): send(sendings)
        case .wait: break
        case .fail: fail(id)
        }
    }

    private mutating func cancel(_ id: UInt64) {
        guard case .fail(let sendings) = machine.cancel(id) else { return }
        fail(id)
        send(sendings)
    }

    // MARK: Publishing

    private mutating func publish() {
        let subject = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
        let type = ["A", "B"].randomElement(using: &generator) ?? "A"
        let count = Int.random(in: 1...3, using: &generator)
        if oneIn(8) {
            let text = nextText()
            let id = publish([envelope(.document, "D", subject, text)], isLeased: true, texts: [])
            holding[id] = (subject, text)
        } else if oneIn(10) {
            _ = publish([envelope(.event, type, subject, "transient")], isTransient: true, texts: [])
        } else {
            let texts = (0..<count).map { _ in nextText() }
            _ = publish(texts.map { envelope(.event, type, subject, $0) }, texts: texts)
        }
    }

    private mutating func publish(
        _ messages: [Envelope], isLeased: Bool = false, isTransient: Bool = false, texts: [String]
    ) -> UInt64 {
        let batch = Batch(messages, isLeased: isLeased)
        let id = machine.nextID()
        guard let packed = try? PackedMessages(batch.messages, isTransient: isTransient) else { return id }
        batches[id] = Publication(texts: texts)
        asked.insert(id)
        let request = PublishRequest(
            producer: ProducerID(), sequence: 0, isLeased: isLeased, isTransient: isTransient, messages: packed)
        ask(.publish(request), publishing: batch, id: id)
        return id
    }

    private mutating func nextText() -> String {
        lastText += 1
        return "\(lastText)"
    }

    private func envelope(_ kind: MessageKind, _ name: String, _ subject: String, _ text: String) -> Envelope {
        var attributes = Attributes(type: MessageType(kind: kind, name: name), source: "model/1")
        attributes.subject = subject
        return Envelope(attributes: attributes, data: Data(text.utf8))
    }

    // MARK: Subscriptions

    private mutating func subscribe() {
        let isFromNow = oneIn(2)
        let prefixes = [["event.A."], ["event."], ["event.A.", "document."]].randomElement(using: &generator) ?? []
        let plan = Subscription.Plan(
            prefixes: prefixes, start: isFromNow ? .now : .after(Position(epoch: 0, offset: 0)), isWatched: oneIn(2))
        subscribe(plan, Reader(prefixes: prefixes, isFromNow: isFromNow, claim: nil))
    }

    private mutating func subscribe(_ plan: Subscription.Plan, _ reader: Reader) {
        let id = machine.nextID()
        readers[id] = reader
        switch machine.subscribe(plan, id: id) {
        case .subscribe(let prefixes): subscribeFeed(to: prefixes)
        case .refuse: readers[id] = nil
        }
    }

    private mutating func leaveSubscription() {
        guard let id = readers.filter({ $0.value.claim == nil }).keys.sorted().randomElement(using: &generator) else {
            return
        }
        readers[id] = nil
        unsubscribeFeed(from: machine.unsubscribe(id))
    }

    private mutating func read() {
        guard let id = readers.keys.sorted().randomElement(using: &generator) else { return }
        read(id)
    }

    private mutating func read(_ id: UInt64) {
        guard let reader = readers[id], reader.origin != nil, !reader.isWaiting, !reader.hasEnded else { return }
        let (messages, sendings) = machine.dequeue(from: id)
        send(sendings)
        if !messages.isEmpty {
            readers[id]?.isWaiting = true
            return deliver(messages, to: id)
        }
        readers[id]?.isWaiting = true
        let actions = machine.wait(for: id, number: machine.nextID())
        if let result = actions.result { endWait(of: id, with: result) }
        send(actions.sendings)
    }

    private mutating func deliver(_ messages: [FeedTracker.Delivery], to id: UInt64) {
        guard readers[id] != nil else { return }
        #expect(readers[id]?.isWaiting == true, "messages are delivered to a reader that waits")
        #expect(readers[id]?.hasEnded == false, "no message is delivered after the end")
        readers[id]?.isWaiting = false
        if messages.isEmpty { end(id) }
        for delivery in messages where delivery.message.offset > 0 { readers[id]?.delivered.append(delivery.message) }
    }

    private mutating func end(_ id: UInt64) {
        #expect(readers[id]?.claim != nil, "only the messages under a claim end")
        readers[id]?.hasEnded = true
    }

    // MARK: Consuming

    /// Claims the consumer. If there is a claim, another member takes over at times.
    private mutating func consume() {
        if readers.values.contains(where: { $0.claim != nil && !$0.hasEnded }) {
            if oneIn(3) { broker.takeOver() }
        } else if claiming == nil {
            let id = machine.nextID()
            claiming = id
            asked.insert(id)
            ask(.claim(ClaimRequest(producer: ProducerID(), member: member, consumer: "c")), id: id)
        }
    }

    private mutating func consume(under claimed: Claimed) {
        for id in readers.filter({ $0.value.claim != nil }).keys.sorted() {
            readers[id] = nil
            unsubscribeFeed(from: machine.unsubscribe(id))
        }
        let claim = ConsumerClaim(
            consumer: "c", member: member, ownerGeneration: claimed.ownerGeneration, epoch: claimed.epoch,
            offsets: claimed.offsets)
        let plan = Subscription.Plan(prefixes: ["event."], start: .after(claim.position), claim: claim)
        subscribe(plan, Reader(prefixes: ["event."], isFromNow: false, claim: claim))
    }

    // MARK: Queries

    private mutating func ask() {
        let id = machine.nextID()
        asked.insert(id)
        let message = PublishedMessage(
            topic: Topic(Self.query, subject: "a").name, subject: "a", key: "", header: [1], data: [2])
        deadlines.append((now + .seconds(1), id))
        ask(.ask(AskRequest(timeout: 1000, query: message)), id: id)
    }

    private mutating func query() {
        guard let server else {
            let id = machine.nextID()
            server = id
            machine.addServer([Self.query], id: id)
            let request = machine.nextID()
            asked.insert(request)
            return ask(machine.registration, id: request)
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            if let query = work.sorted().randomElement(using: &generator) {
                answer(query, .message(header: [1], data: [2]))
            }
        case 1:
            if let query = broker.openQueries.sorted().randomElement(using: &generator) {
                incoming.append(.notice(broker.cancelQuery(query)))
            }
        case 2 where oneIn(3):
            let actions = machine.removeServer(server)
            work.subtract(actions.stopped)
            send(actions.sendings)
            self.server = nil
        default:
            guard broker.isServing else { return }
            lastQuery += 1
            let notice = broker.query(lastQuery, type: Self.query)
            incoming.append(.notice(notice))
            // A second query with the same number is a repetition.
            if oneIn(4) { incoming.append(.notice(notice)) }
        }
    }

    private mutating func answer(_ query: UInt64, _ content: QueryAnswer.Content) {
        work.remove(query)
        send(machine.answer(query, content))
    }

    // MARK: The end

    /// Lets 20 seconds pass without faults.
    mutating func settle() {
        (isQuiet, isFull, broker.isWritable, broker.isReadable) = (true, false, true, true)
        for _ in 0..<200 {
            if isConnected { writable() }
            // The number of rounds is limited: a client that sends requests endlessly fails instead of hanging.
            for _ in 0..<500 where !requests.isEmpty || !incoming.isEmpty || !feed.isEmpty {
                serveRequest()
                receiveReply()
                receivePacket()
                for query in work.sorted() { answer(query, .failure(ProtocolError(.cancelled, ""))) }
            }
            for id in readers.keys.sorted() { read(id) }
            pass(.milliseconds(100))
        }
    }

    /// Ends the faults, and checks the final state.
    mutating func finish() {
        settle()
        loseTail()
        settle()
        #expect(asked.isEmpty, "each request has an outcome")
        checkJournal()
        for id in readers.keys.sorted() { checkReader(id) }
        #expect(broker.openQueries.isEmpty, "each query is answered")
        #expect(broker.isServing == (server != nil))
        checkLeases()
        checkClaim()
        checkClose()
    }

    /// Makes the feed lose the last messages.
    private mutating func loseTail() {
        isDeaf = true
        for _ in 0..<4 { publish() }
        while !requests.isEmpty { serveRequest() }
        isDeaf = false
    }

    private func checkJournal() {
        let texts = broker.journal.filter { $0.feed.topic.hasPrefix("event.") }.map(\.data)
        if faults != .lostEnds {
            #expect(Set(texts).count == texts.count, "no batch is recorded twice")
            for subject in ["a", "b", "c"] {
                let numbers = broker.journal.filter {
                    $0.message.subject == subject && $0.feed.topic.hasPrefix("event.")
                }
                .compactMap { Int($0.data) }
                #expect(numbers == numbers.sorted(), "a subject keeps its order")
            }
        }
        guard faults == .restarts else { return }
        for (id, batch) in batches.sorted(by: { $0.key < $1.key }) where batch.outcome == .accepted {
            #expect(Set(texts).isSuperset(of: batch.texts), "batch \(id) was accepted, but is not recorded")
        }
    }

    private func checkReader(_ id: UInt64) {
        guard let reader = readers[id], let origin = reader.origin, !reader.hasEnded else { return }
        let after: UInt64 =
            if origin.epoch == broker.epoch { origin.offset } else { reader.isFromNow && !isOld ? broker.start : 0 }
        let wanted = broker.journal.filter { entry in
            entry.feed.offset > after && reader.prefixes.contains { entry.feed.topic.hasPrefix($0) }
        }
        let delivered = reader.delivered.filter { $0.epoch == broker.epoch }
        if faults == .lostEnds {
            // With these faults, only missing messages are checked.
            let given = Set(delivered.map { "\($0.offset) \(String(decoding: $0.data, as: UTF8.self))" })
            let missing = wanted.filter { !given.contains("\($0.feed.offset) \($0.data)") }.map(\.feed.offset)
            #expect(missing.isEmpty, "\(id) lacks messages after \(after)")
            return
        }
        #expect(
            delivered.map(\.offset).sorted() == wanted.map(\.feed.offset), "\(id) after \(after) of \(broker.epoch)")
        for partition in Set(delivered.map { $0.topic.suffix(3) }) {
            let offsets = delivered.filter { $0.topic.hasSuffix(partition) }.map(\.offset)
            #expect(offsets == offsets.sorted(), "\(id) has the messages of a partition in their order")
        }
    }

    private func checkLeases() {
        let documents = Dictionary(
            uniqueKeysWithValues: broker.documents.map { ($0.entry.message.subject, $0.entry.data) })
        guard faults == .restarts else { return }
        for (subject, text) in held {
            #expect(Int(documents[subject] ?? "") ?? 0 >= Int(text) ?? .max, "the document of \(subject) is held")
        }
    }

    /// Checks that a subscription ends when another member takes over its claim.
    private mutating func checkClaim() {
        guard
            let id = readers.keys.sorted().first(where: { readers[$0]?.claim != nil && readers[$0]?.hasEnded == false })
        else { return }
        broker.takeOver()
        settle()
        #expect(readers[id]?.hasEnded == true, "the claim was lost")
    }

    private mutating func checkClose() {
        isConnected = false
        for _ in 0..<3 { publish() }
        ask()
        subscribe()
        switch machine.leave() {
        case .sendBye(let sendings, let delay):
            send(sendings)
            closeAt = now + delay
        case .close, .none: Issue.record("an open client says good-bye")
        }
        settle()
        let isClosed = machine.isClosed
        #expect(isClosed)
        #expect(asked.isEmpty && readers.values.allSatisfy { !$0.isWaiting && $0.origin != nil })
        _ = publish([envelope(.event, "A", "a", "late")], texts: ["late"])
        #expect(asked.isEmpty)
    }
}
