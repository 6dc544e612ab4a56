internal import BusProtocol
public import EventBus
internal import Foundation
public import Logging
internal import OrderedCollections
internal import Synchronization
internal import ZeroMQ

/// An event bus over a broker and two ZeroMQ sockets: DEALER for requests, SUB for the feed.
///
/// The actor lives on the thread that owns the sockets. Requests wait in an outbox until they are answered, and are sent
/// again after a reconnection: the broker drops what it has. See `docs/wire-protocol.md`.
public actor ZeroMQEventBus: EventBus {
    public nonisolated let source: String
    let address: BusAddress
    let logger: Logger
    let skipped: SkippedMessages
    let thread: SocketThread

    enum State { case idle, open, closed }
    var state = State.idle
    var ingress: Socket?
    var ingressWatch: SocketWatch?
    var feed: Socket?
    private var feedWatch: SocketWatch?
    /// What the feed should have brought, by judgements of heads and by confirmations that are due.
    var quietFeed = (losses: QuietSocket(limit: 2), confirmations: QuietSocket(limit: 3))
    var quietIngress = QuietSocket(limit: 6)

    let producer = ProducerID()
    var sequence: UInt64 = 0
    /// The last batch that the broker has answered: it must have it, or it has forgotten this producer.
    var answeredSequence: UInt64 = 0
    /// Whether the broker lacks a batch before one that it got: its next welcome names the last that it has.
    var isOutOfSequence = false
    /// Transient batches have a count of their own: a broker that was restarted has forgotten it.
    var transientSequence: UInt64 = 0
    /// Of the broker's journal; 0 until a broker has answered.
    var epoch: UInt64 = 0
    /// When the broker last answered, or the bus was opened; moved on by a warning, so that one comes every few seconds.
    var lastHeard = ContinuousClock.now
    /// Whether a hello awaits its answer: one at a time, however long the broker is away.
    var isGreeting = false
    /// The highest offset that this client has seen of the journal: one that ends before it has lost its end.
    var lastSeen: UInt64 = 0
    /// What the next hello reminds the broker of: if its journal was put back, it has another message there.
    var lastWelcome: Welcome?
    /// Whether the broker takes a hello that asks for more than the first version of the protocol knew. False from the refusal
    /// of one until the feed is connected again, or another epoch begins: an older broker may have been replaced by a newer one.
    var takesLongGreetings = true
    var leased = LeasedDocuments()
    /// Whether the journal may hold others, or none: it is another one, or has lost its end.
    var areLeasesInDoubt = false
    /// When leased documents were last published again.
    var lastLeaseRenewal: ContinuousClock.Instant?

    var lastID = 0
    var pending: OrderedDictionary<UInt64, PendingRequest> = [:]
    var roundTrips = RoundTrips()
    /// Whether requests that are overdue will be looked for.
    var awaitsOverdue = false
    /// Batches for which the outbox has no room yet, in the order of their publishing.
    var waiting: OrderedDictionary<UInt64, PendingRequest> = [:]
    var subscribers: [Int: Subscriber] = [:]
    var confirmations: [String: PendingSubscription] = [:]
    /// What this process answers, by the call of `serve` that answers it.
    var servers: [Int: QueryServer] = [:]
    /// Which of them works on a query, by the broker's number.
    var openQueries: [UInt64: Int] = [:]
    let client = ProducerID()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Tasks that prefer this executor run on the socket's thread and get their messages without changing threads.
    public nonisolated var taskExecutor: (any TaskExecutor)? { thread }

    /// - Parameters:
    ///   - address: `ipc:///DIRECTORY` or `tcp://HOST:PORT`.
    ///   - source: the CloudEvents source of what is published: `name/instance`.
    /// - Throws: ``BusError`` with code `address`.
    public init(address: String, source: String, logger: Logger) throws {
        self.address = try BusAddress(address)
        self.source = source
        self.logger = logger
        skipped = SkippedMessages(logger: logger)
        thread = SocketThread(name: "bus")
    }

    deinit {
        thread.stop()
    }

    public func run() async throws {
        guard state == .idle else { throw BusError(.closed, "a bus runs once") }
        try open()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A handler that ran before this has closed it already.
                if state == .closed { continuation.resume() } else { closed = continuation }
            }
        } onCancel: {
            thread.perform { [weak self] in self?.assumeIsolated { $0.leave() } }
        }
        throw CancellationError()
    }

    /// Resumed when ``run()`` may end.
    var closed: CheckedContinuation<Void, Never>?

    /// Waits until the broker has answered once.
    /// - Throws: ``BusError`` with code `unavailable` when it does not in time.
    public func waitUntilConnected(timeout: Duration) async throws {
        let address = address
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await self.ask(.hello(self.greeting)) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw BusError(.unavailable, "no broker answers at \(address)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static let options: [SocketOption] =
        [
            .linger(500), .reconnectInterval(50), .maximumReconnectInterval(1000),
            .maximumFrameSize(Int64(Limits.maximumFrameSize)),
        ] + SocketOption.tcpKeepalive

    private func open() throws {
        try connectIngress()
        try connectFeed()
        state = .open
        lastHeard = .now
        tick()
    }

    private func connectIngress() throws {
        let ingress = try Socket(.dealer, options: Self.options + [.immediate])
        try ingress.connect(address.ingress)
        let watch = SocketWatch(ingress) { [weak self] in
            self?.assumeIsolated { $0.takeReplies() }
        } onWritable: { [weak self] in
            self?.assumeIsolated { $0.sendUnsent() }
        }
        thread.add(watch)
        (self.ingress, ingressWatch) = (ingress, watch)
    }

    /// Subscribes to all that there is to subscribe to, so that it comes as after a reconnection.
    private func connectFeed() throws {
        // A SUB socket drops subscriptions beyond its send limit without a word (libzmq #2942).
        let feed = try Socket(.sub, options: Self.options + [.sendHighWaterMark(0), .receiveHighWaterMark(4096)])
        for prefix in subscribers.values.flatMap(\.prefixes) { try feed.set(.subscribe(prefix)) }
        try feed.set(.subscribe(Inbox.prefix(of: client)))
        try feed.connect(address.feed)
        let watch = SocketWatch(feed) { [weak self] in self?.assumeIsolated { $0.takeMessages() } }
        thread.add(watch)
        (self.feed, feedWatch) = (feed, watch)
        for (inbox, subscription) in confirmations {
            subscribe(subscription.prefixes, inbox: inbox)
        }
    }

    /// Connects a socket anew that has brought nothing for too long. The feed is judged only while the broker answers; the
    /// ingress only over TCP, since a connection within a machine does not fall silent.
    private func renewQuietSockets(hasLosses: Bool) {
        do {
            let (isLossy, isUnconfirmed) = (
                hasLosses && quietFeed.losses.miss(),
                !confirmations.isEmpty && !isGreeting && quietFeed.confirmations.miss()
            )
            if isLossy || isUnconfirmed {
                logger.warning("the feed brings nothing, and is connected again", metadata: ["bus": "\(address)"])
                feedWatch.map(thread.remove)
                (feed, feedWatch) = (nil, nil)
                try connectFeed()
            }
            guard address.directory == nil, pending.values.contains(where: { $0.resending.sentAt != nil }),
                quietIngress.miss()
            else { return }
            logger.warning("the broker does not answer, and is connected again", metadata: ["bus": "\(address)"])
            ingressWatch.map(thread.remove)
            // What it has not sent is sent again on the next one.
            try ingress?.set(.linger(0))
            (ingress, ingressWatch) = (nil, nil)
            try connectIngress()
            resend()
        } catch {
            logger.error("a socket could not be made", metadata: ["error": "\(error)"])
        }
    }

    /// Once a second: says that the process lives, looks for losses, and for connections that have fallen silent.
    private func tick() {
        guard state == .open else { return }
        var hasLosses = false
        for subscriber in subscribers.values {
            subscriber.isRefused = false
            if subscriber.judge() { hasLosses = true }
        }
        warnOfSilence()
        renewQuietSockets(hasLosses: hasLosses)
        sendUnsent()
        renewConfirmations()
        if !isGreeting || upgradeGreeting() {
            greet(pollsHeads: true)
            renewClaims()
            recordSettled()
            register(reply: .ignored)
        }
        readPages()
        thread.perform(after: .seconds(1)) { [weak self] in self?.assumeIsolated { $0.tick() } }
    }

    /// Lets the hello under way be the one of this second.
    /// - Returns: false when it is that of an earlier one.
    private func upgradeGreeting() -> Bool {
        for (id, request) in pending {
            guard case .welcome(let answered, let leased, false) = request.reply else { continue }
            pending[id]?.reply = .welcome(answered: answered, leased: leased, pollsHeads: true)
            return true
        }
        return false
    }

    /// - Parameter pollsHeads: whether to ask which topics have grown: once a second.
    func greet(pollsHeads: Bool = false) {
        guard !isGreeting else { return }
        isGreeting = true
        enqueue(
            .hello(greeting),
            reply: .welcome(answered: answeredSequence, leased: leased.count, pollsHeads: pollsHeads))
    }

    var greeting: Greeting {
        let welcome = lastWelcome?.epoch == epoch ? lastWelcome : nil
        return Greeting(
            producer: producer, epoch: epoch, offset: lastSeen, head: welcome?.head ?? 0, mark: welcome?.mark ?? 0,
            asksForMore: takesLongGreetings)
    }

    private func warnOfSilence() {
        guard ContinuousClock.now - lastHeard > .seconds(4) else { return }
        lastHeard = .now
        logger.warning("no broker answers", metadata: ["bus": "\(address)", "waiting": "\(pending.count)"])
    }

    /// Says good-bye and closes when the broker has heard it, or after a moment. One that has never answered has nothing of
    /// this process's to hand over, and is not waited for.
    func leave() {
        guard state == .open else { return close() }
        enqueue(.bye(greeting), reply: .resume(nil))
        guard epoch != 0 else { return close() }
        thread.perform(after: .milliseconds(500)) { [weak self] in self?.assumeIsolated { $0.close() } }
    }

    func close() {
        guard state != .closed else { return }
        state = .closed
        thread.removeAllWatches()
        (ingress, feed, ingressWatch, feedWatch) = (nil, nil, nil, nil)
        let error = BusError(.closed, "the connection to \(address) was closed")
        for case .resume(let continuation?) in [pending, waiting].flatMap(\.values).map(\.reply) {
            continuation.resume(throwing: error)
        }
        (pending, waiting) = ([:], [:])
        confirmations.values.forEach { $0.continuation.resume(throwing: error) }
        subscribers.values.forEach { $0.end(throwing: error) }
        servers.values.forEach { $0.end() }
        (confirmations, subscribers, servers) = ([:], [:], [:])
        closed?.resume()
        closed = nil
    }

    /// Messages taken from the feed in one turn: readers have their turn before their room is full, and the other socket too.
    private static let turnCount = 512

    public nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let id = try await subscribe(to: filters.topicPrefixes, from: start, until: end, onNotice: onNotice)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { [skipped] message in
                // Who reads no header cannot say who it is for; who keeps no progress cannot give it up either.
                if let header = message.unreadableHeader { skipped.note(header.reason) }
                return message.unreadableHeader == nil && filters.contains { $0.matches(message) }
            })
    }

    public nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let start: StartPosition = claim.offsets.isEmpty ? .now : .after(claim.position)
        let id = try await subscribe(to: filters.topicPrefixes, from: start, claim: claim, progress: progress)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { message in
                // Of a message that cannot be read the subject is not known: whoever has its partition gives it up.
                claim.covers(message)
                    && (message.unreadableHeader != nil || filters.contains { $0.matches(message) })
            })
    }

    private nonisolated func messages(
        of id: Int, where isWanted: @escaping @Sendable (Envelope) -> Bool
    ) -> MessageSequence {
        let reader = MessageReader(bus: self, id: id, skipped: skipped, isWanted: isWanted)
        return MessageSequence(pull: reader.next)
    }

    private func subscribe(
        to prefixes: [String], from start: StartPosition, until end: Position? = nil, claim: ConsumerClaim? = nil,
        progress: ConsumerProgress? = nil,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)? = nil
    ) async throws -> Int {
        try Task.checkCancellation()
        let start = try await trackerStart(start)
        lastID += 1
        let inbox = Inbox.prefix(of: client) + String(lastID)
        return try await suspend { continuation in
            guard state != .closed else {
                return continuation.resume(throwing: BusError(.closed, "the connection to \(address) was closed"))
            }
            confirmations[inbox] = PendingSubscription(
                prefixes: prefixes, start: start, end: end, claim: claim, progress: progress, onNotice: onNotice,
                continuation: continuation)
            subscribe(prefixes, inbox: inbox)
        } onCancel: {
            $0.cancelConfirmation(inbox)
        }
    }

    /// Where a tracker begins; a time is looked up first: what is journalled meanwhile comes behind it.
    private func trackerStart(_ start: StartPosition) async throws -> FeedTracker.Start {
        switch start {
        case .now: return .now
        case .beginning: return .after(Position(epoch: 0, offset: 0))
        case .retained: return .documents
        case .after(let position): return .after(position)
        case .since(let date):
            // Down: the broker's times are, and a later one would leave out what was journalled in the same millisecond.
            let milliseconds = UInt64(clamping: date.milliseconds(.down))
            guard case .located(let epoch, let offset) = try await ask(.locate(milliseconds)) else {
                throw BusError(.refused, "the broker answered a time with something else")
            }
            return .after(Position(epoch: epoch, offset: offset))
        }
    }

    /// The inbox last: its answer says that the others are live.
    func subscribe(_ prefixes: [String], inbox: String) {
        setOptions(prefixes.map(SocketOption.subscribe) + [.subscribe(inbox)])
    }

    /// Asks again for confirmations that have not come: an answer can be dropped like any message of the feed.
    func renewConfirmations() {
        for inbox in confirmations.keys {
            setOptions([.unsubscribe(inbox), .subscribe(inbox)])
        }
    }

    private func cancelConfirmation(_ inbox: String) {
        guard let subscription = confirmations.removeValue(forKey: inbox) else { return }
        setOptions(subscription.prefixes.map(SocketOption.unsubscribe) + [.unsubscribe(inbox)])
        subscription.continuation.resume(throwing: CancellationError())
    }

    private func unsubscribe(_ id: Int) {
        guard let subscriber = subscribers.removeValue(forKey: id) else { return }
        setOptions(subscriber.prefixes.map(SocketOption.unsubscribe))
    }

    private func setOptions(_ options: [SocketOption]) {
        do {
            for option in options {
                try feed?.set(option)
            }
        } catch {
            logger.error("a subscription failed", metadata: ["error": "\(error)"])
        }
    }

    /// The next messages; none at the end.
    func next(_ id: Int) async throws -> [FeedTracker.Delivery] {
        defer { readPages() }
        if let messages = subscribers[id]?.takeBuffered(), !messages.isEmpty { return messages }
        lastID += 1
        let wait = lastID
        return try await suspend {
            take(from: id, wait: wait, $0)
        } onCancel: {
            $0.subscribers[id]?.cancel(wait: wait)
        }
    }

    private func take(
        from id: Int, wait: Int, _ reader: CheckedContinuation<[FeedTracker.Delivery], any Error>
    ) {
        guard let subscriber = subscribers[id] else {
            return reader.resume(throwing: BusError(.closed, "the subscription has ended"))
        }
        subscriber.next(reader, wait: wait)
    }

    func takeMessages() {
        quietFeed.losses.hear()
        quietFeed.confirmations.hear()
        do {
            var count = 0
            while count < Self.turnCount, let frames = try feed?.receive(), let topic = frames.first {
                if topic.starts(with: Inbox.mark.utf8) {
                    count += 1
                    try confirm(frames)
                } else {
                    let messages = try FeedPacket.messages(frames)
                    count += messages.count
                    deliver(messages)
                }
            }
        } catch {
            logger.error("the feed cannot be read", metadata: ["error": "\(error)"])
        }
        readPages()
    }

    /// - Parameter messages: of one topic and epoch.
    private func deliver(_ messages: [FeedMessage]) {
        // Only what the broker says of itself tells of another journal: a message of the one before may still be under way
        // when that has been said. One of a journal that is not known yet is read from it later.
        guard let last = messages.last, last.epoch == epoch else { return }
        see(last.offset, of: last.epoch)
        for subscriber in subscribers.values {
            subscriber.receive(live: messages)
        }
    }

    private func confirm(_ frames: [[UInt8]]) throws {
        let (inbox, answerEpoch, head) = try Inbox.readAnswer(frames)
        if epoch == 0 { follow(epoch: answerEpoch) }
        // The common inbox is answered after every connection of the feed: this may be a newer broker.
        let isConnected = inbox == Inbox.prefix(of: client)
        if isConnected { takesLongGreetings = true }
        guard answerEpoch == epoch else {
            // The feed and the ingress are two ways: this may be of the journal before, or of the one that a hello is about
            // to tell of. Only the ingress decides; an inbox is asked again every second.
            return isConnected ? greetAgain() : greet()
        }
        guard let subscription = confirmations.removeValue(forKey: inbox) else {
            // Something may have been published in between.
            if isConnected { reconnected(head: head) }
            return
        }
        setOptions([.unsubscribe(inbox)])
        if let reason = mistake(in: subscription, head: head) {
            setOptions(subscription.prefixes.map(SocketOption.unsubscribe))
            return subscription.continuation.resume(throwing: BusError(.epoch, reason))
        }
        lastID += 1
        subscribers[lastID] = Subscriber(
            tracker: FeedTracker(
                prefixes: subscription.prefixes, start: subscription.start, head: head,
                isWatched: subscription.onNotice != nil),
            prefixes: subscription.prefixes, claim: subscription.claim, progress: subscription.progress, head: head,
            end: subscription.end?.offset,
            onNotice: subscription.onNotice)
        subscription.continuation.resume(returning: lastID)
    }

    /// Why nobody can begin or end there.
    private func mistake(in subscription: PendingSubscription, head: UInt64) -> String? {
        let start: Position? = if case .after(let position) = subscription.start { position } else { nil }
        for position in [start, subscription.end].compactMap(\.self) where ![0, epoch].contains(position.epoch) {
            return "the position \(position) belongs to a journal that is no longer there"
        }
        guard let position = start else { return nil }
        return position.offset > head ? "the position \(position) is behind the journal's end, \(head)" : nil
    }

    private func reconnected(head: UInt64) {
        resend()
        greetAgain()
        pollHeads(head: head, judgeNow: true)
    }

    /// Asks which topics have grown, for those subscribers that have not asked since the journal has.
    func pollHeads(head: UInt64, judgeNow: Bool) {
        let asking = subscribers.filter { $0.value.polledThrough < head }
        guard let after = asking.values.map(\.polledThrough).min() else { return }
        let prefixes = Set(asking.values.flatMap(\.prefixes)).sorted()
        let request = PageRequest(epoch: epoch, after: after, prefixes: prefixes)
        enqueue(.heads(request), reply: .heads(subscribers: Array(asking.keys), judgeNow: judgeNow))
    }

    /// - Parameter asking: who it was asked for: what it says of topics that others have subscribed to since is nothing.
    func receive(_ heads: Heads, for asking: [Int], judgeNow: Bool) {
        for subscriber in asking.compactMap({ subscribers[$0] }) {
            subscriber.polledThrough = max(subscriber.polledThrough, heads.through)
            subscriber.tracker.note(heads)
            if judgeNow { subscriber.judge() }
        }
    }

    /// Asks for the pages that subscribers need and have room for.
    func readPages() {
        for (id, subscriber) in subscribers {
            guard let phase = subscriber.nextRead else { continue }
            switch phase {
            case .live: continue
            case .journal(let after):
                let request = PageRequest(epoch: epoch, after: after, prefixes: subscriber.prefixes)
                enqueue(.read(request), reply: .page(subscriber: id))
            case .documents(let after):
                let request = PageRequest(epoch: epoch, after: after, prefixes: subscriber.prefixes)
                enqueue(.documents(request), reply: .page(subscriber: id))
            }
            subscriber.isReading = true
        }
    }

    func receive(_ reply: Reply, for id: Int) {
        guard let subscriber = subscribers[id] else { return }
        subscriber.isReading = false
        switch reply {
        case .page(let page) where page.epoch == epoch:
            for offset in page.damaged {
                logger.error("a message was skipped: the journal is damaged", metadata: ["offset": "\(offset)"])
            }
            see(page.through, of: page.epoch)
            subscriber.receive(page)
        case .refused(let error):
            // Of an older journal, or of one that cannot be read now.
            subscriber.isRefused = true
            logger.warning("a page was refused", metadata: ["reason": "\(error)"])
            if error.code == .epoch { greet() }
        default: break
        }
    }

    public func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let request = ClaimRequest(producer: producer, member: member, consumer: consumer)
        guard case .claimed(let claimed) = try await ask(.claim(request)) else {
            throw BusError(.refused, "the broker answered a claim with something else")
        }
        return ConsumerClaim(
            consumer: consumer, member: member, ownerEpoch: claimed.ownerEpoch, epoch: claimed.epoch,
            offsets: claimed.offsets, cutOffs: claimed.cutOffs)
    }

    public func leave(consumer: String, as member: ConsumerMember) {
        guard state != .closed else { return }
        let request = ClaimRequest(producer: producer, member: member, consumer: consumer, purpose: .leave)
        enqueue(.claim(request), reply: .ignored)
    }

    /// Says that the members live, and asks whether their claims still hold.
    func renewClaims() {
        for (id, subscriber) in subscribers where !subscriber.isRenewing {
            guard let claim = subscriber.claim else { continue }
            subscriber.isRenewing = true
            let request = ClaimRequest(
                producer: producer, member: claim.member, consumer: claim.consumer, purpose: .renewal)
            enqueue(.claim(request), reply: .renewal(subscriber: id))
        }
    }

    /// Records how far members have come without a message for them: what is none of theirs must neither hold retention up nor
    /// count as lost to them.
    func recordSettled() {
        for subscriber in subscribers.values {
            guard let claim = subscriber.claim, claim.epoch == epoch, claim.ownerEpoch > 0,
                let settled = subscriber.settled, settled > subscriber.recorded
            else { continue }
            subscriber.recorded = settled
            let checkpoint = CheckpointFrame(
                consumer: claim.consumer, ownerEpoch: claim.ownerEpoch, epoch: epoch, offset: settled,
                settled: settled, partition: nil)
            let request = PublishRequest(producer: producer, sequence: 0, checkpoint: checkpoint, messages: [])
            enqueue(.publish(request), reply: .ignored)
        }
    }

    func renewed(_ reply: Reply, for id: Int) {
        guard let subscriber = subscribers[id], let claim = subscriber.claim else { return }
        subscriber.isRenewing = false
        switch reply {
        case .claimed(let claimed):
            let holds = claimed.ownerEpoch == claim.ownerEpoch && claimed.epoch == claim.epoch
            if !holds || Set(claimed.offsets.keys) != Set(claim.offsets.keys) {
                subscriber.finish()
            }
        case .refused(let error):
            logger.warning("a claim could not be renewed", metadata: ["reason": "\(error)"])
        default: break
        }
    }

    /// Suspends until what `body` does with the continuation resumes it.
    /// - Parameter onCancel: resumes it when the task is cancelled; called on the actor, always after `body`.
    func suspend<Result: Sendable>(
        _ body: (CheckedContinuation<Result, any Error>) -> Void,
        onCancel: @escaping @Sendable (isolated ZeroMQEventBus) -> Void
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The closure has to capture the actor to run on it; otherwise it would run on the global executor, and
                // the compiler would not mind.
                self.preconditionIsolated()
                // A handler that ran before this found nothing to resume.
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    body(continuation)
                }
            }
        } onCancel: {
            thread.perform { [weak self] in self?.assumeIsolated { onCancel($0) } }
        }
    }
}

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

/// What was not given to whoever asked for it, because its header cannot be read: each is logged, with how many it were.
final class SkippedMessages: Sendable {
    private let logger: Logger
    private let count = Atomic<Int>(0)

    init(logger: Logger) {
        self.logger = logger
    }

    func note(_ reason: String) {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        logger.warning("a message was skipped", metadata: ["reason": "\(reason)", "skipped": "\(count)"])
    }
}
