internal import BusProtocol
public import EventBus
internal import Foundation
public import Logging
internal import OrderedCollections
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
}
