internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Logging
internal import OrderedCollections
internal import Support

/// The protocol of the bus client, without sockets, clocks and tasks: a value that handles inputs and returns actions.
///
/// Inputs are the requests of callers, the messages of the two sockets, and the time. ``ZeroMQEventBus`` performs the
/// actions in their order. `docs/wire-protocol.md` describes the protocol.
struct ClientStateMachine {
    typealias Instant = ContinuousClock.Instant

    enum State { case idle, open, closed }

    enum Action {
        /// Sends a request on the ingress. The owner then calls ``recordSent(_:at:)`` if the socket has accepted it, or
        /// ``block()`` if it must wait.
        case send(id: UInt64, Request)
        /// Calls ``wake(at:)`` after this duration.
        case wake(after: Duration)
        /// Resumes the caller of a request with its reply.
        case answer(id: UInt64, Reply)
        case fail(id: UInt64, any Error)
        /// Resumes the caller that waits for a subscription to become live.
        case confirm(subscription: UInt64)
        case refuse(subscription: UInt64, any Error)
        /// Resumes the reader of a subscription. An empty array means the end of the subscription.
        case deliver(subscription: UInt64, [FeedTracker.Delivery])
        case interrupt(subscription: UInt64, any Error)
        case notify(subscription: UInt64, [SubscriptionNotice])
        /// Subscribes to topic prefixes on the feed, in the order of the array.
        case subscribe([String])
        case unsubscribe([String])
        /// Replaces the socket of the feed by a new one, which subscribes to the prefixes before it connects.
        case renewFeed([String])
        case renewIngress
        /// Gives a query to a server. The query is identified by the broker's number.
        case work(query: UInt64, PublishedMessage, server: UInt64)
        case stopWork(query: UInt64)
        /// Calls ``close()`` after this duration.
        case close(after: Duration)
        case log(Logger.Level, Logger.Message, Logger.Metadata)
    }

    private let address: BusAddress
    private let source: String
    private let producer: ProducerID
    private let client: ProducerID

    private(set) var state = State.idle
    private var lastID: UInt64 = 0
    private(set) var outbox: Outbox
    private(set) var journal: KnownJournal
    /// The unanswered hello that this state machine sent by itself; nil if there is none. Hellos of callers are not
    /// included.
    private var hello: Hello?
    /// The subscriptions that the broker has not confirmed.
    private var plans: OrderedDictionary<UInt64, Subscription.Plan> = [:]
    private var subscriptions: [Subscription] = []
    private var queries = ServedQueries()
    private var leased = LeasedDocuments()
    /// True if the journal may lack the present versions of the leased documents. Set when the epoch changes or the
    /// journal has lost its end.
    private var areLeasesInDoubt = false
    /// The time at which leased documents were last published again.
    private var lastLeaseRenewal: Instant?

    /// Two counters of seconds without a message on the feed, for ``isFeedSilent(hasLosses:)``.
    private var quietFeed = (losses: SilenceCounter(limit: 2), confirmations: SilenceCounter(limit: 3))
    /// A broker that is slow gets more time after each reconnection, because it would have more to do for each.
    private var quietIngress = SilenceCounter(limit: 6, longest: 24)
    /// The time at which something last arrived from the broker on the ingress, or the bus was opened. Each warning
    /// that no broker answers also sets it.
    private var lastReceived: Instant?
    /// True after a refused hello, until the next tick or a welcome.
    private var isHelloRefused = false
    /// The id of the good-bye, after which the client says nothing new: the broker would treat it as alive.
    private var bye: UInt64?
    /// True if an action has requested a call of ``wake(at:)`` that has not come yet.
    private var willWake = false
    /// The actions of the current input.
    private var actions: [Action] = []

    /// An unanswered hello, with the state of the client when it was created.
    private struct Hello {
        let id: UInt64
        /// The sequence number of the last batch that had been answered.
        let answered: UInt64
        /// The number of leased documents that the journal had recorded.
        let leased: Int
        /// True if the client requests the last offsets of topics when the hello is answered.
        var pollsHeads: Bool
    }

    /// - Parameters:
    ///   - producer: The identity of this bus for the broker.
    ///   - client: The identity in the names of this bus's inboxes on the feed.
    init(address: BusAddress, source: String, producer: ProducerID = ProducerID(), client: ProducerID = ProducerID()) {
        self.address = address
        self.source = source
        self.producer = producer
        self.client = client
        outbox = Outbox(producer: producer)
        journal = KnownJournal(producer: producer)
    }

    private mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// A new id for a request, a subscription, a reader's wait or a server.
    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Opening and closing

    /// Called once, after the sockets have been created.
    mutating func open(at now: Instant) -> [Action] {
        state = .open
        lastReceived = now
        subscribePlans()
        return drainActions()
    }

    /// Says good-bye, and closes when the broker has answered, or after 500 ms. If the bus is not open or the client
    /// does not know a journal yet, it closes at once.
    mutating func leave() -> [Action] {
        guard state == .open else { return [.close(after: .zero)] }
        bye = enqueue(.bye(journal.greeting), for: .caller)
        actions.append(.close(after: journal.epoch == 0 ? .zero : .milliseconds(500)))
        return drainActions()
    }

    /// Ends everything that waits for the broker.
    mutating func close() -> [Action] {
        guard state != .closed else { return [] }
        state = .closed
        let error = closed
        for id in outbox.close() { actions.append(.fail(id: id, error)) }
        for id in plans.keys { actions.append(.refuse(subscription: id, error)) }
        for subscription in subscriptions { actions.append(.interrupt(subscription: subscription.id, error)) }
        (plans, subscriptions, queries) = ([:], [], ServedQueries())
        return drainActions()
    }

    private var closed: BusError { BusError(.closed, "the connection to \(address) was closed") }

    // MARK: Requests

    /// Sends a request for a caller.
    /// - Parameter batch: The batch that the request publishes; nil for other requests.
    mutating func ask(_ request: Request, publishing batch: Batch? = nil, id: UInt64) -> [Action] {
        guard state != .closed else { return [.fail(id: id, closed)] }
        var pending = PendingRequest(request: request, purpose: .caller)
        if case .publish(let publish) = request, let batch {
            do {
                pending.leases = try leased.change(by: batch, publish.messages)
            } catch {
                return [.fail(id: id, BusError(error))]
            }
        }
        if case .serve = request { outbox.supersedeServe(with: request) }
        send(outbox.add(pending, id: id))
        return drainActions()
    }

    /// Sends a request whose answer no caller needs.
    mutating func tell(_ request: Request) -> [Action] {
        guard state != .closed else { return [] }
        enqueue(request, for: .none)
        return drainActions()
    }

    /// Cancels the request of a caller. The caller gets `error`.
    mutating func cancel(_ id: UInt64, throwing error: any Error) -> [Action] {
        guard let request = outbox.cancel(id) else { return [] }
        // A query that was not sent need not be cancelled at the broker.
        if request.isQuery, request.resending.sentAt != nil { enqueue(.cancel(id), for: .none) }
        actions.append(.fail(id: id, error))
        return drainActions()
    }

    @discardableResult
    private mutating func enqueue(_ request: Request, for purpose: PendingRequest.Purpose) -> UInt64 {
        let id = nextID()
        send(outbox.add(PendingRequest(request: request, purpose: purpose), id: id))
        return id
    }

    private mutating func send(_ sending: Outbox.Sending?) {
        guard let sending else { return }
        actions.append(.send(id: sending.id, sending.request))
        guard !willWake else { return }
        willWake = true
        actions.append(.wake(after: Resending.shortestWait))
    }

    private mutating func send(_ sendings: [Outbox.Sending]) {
        for sending in sendings { send(sending) }
    }

    /// Records that the ingress has accepted a request.
    mutating func recordSent(_ id: UInt64, at now: Instant) {
        outbox.recordSent(id, at: now)
    }

    /// Records that the ingress accepts no more requests now. Further requests wait.
    mutating func block() {
        outbox.block()
    }

    /// Records that the ingress accepts requests again.
    mutating func unblock() -> [Action] {
        send(outbox.unblock())
        return drainActions()
    }

    /// Says hello if an answer is overdue or the journal has grown since the last answer to a hello. An overdue hello or
    /// good-bye is sent again.
    mutating func wake(at now: Instant) -> [Action] {
        willWake = false
        guard state == .open else { return [] }
        if let greeting = bye ?? hello?.id {
            send(outbox.overdue(greeting, at: now))
        } else if journal.hasGrown || outbox.hasOverdue(at: now) {
            greet()
        }
        if !willWake, outbox.awaitsAnswers {
            willWake = true
            actions.append(.wake(after: Resending.shortestWait))
        }
        return drainActions()
    }

    // MARK: Time

    /// Called once a second. Tells the broker that the process is alive, and looks for losses and for connections that
    /// have fallen silent.
    /// - Parameter settled: Returns the offset up to which the reader of a subscription has handled everything, if
    ///   everything up to the second argument has been delivered to it.
    mutating func tick(at now: Instant, settled: (_ subscription: UInt64, _ delivered: UInt64) -> UInt64) -> [Action] {
        guard state == .open else { return [] }
        var hasLosses = false
        for index in subscriptions.indices {
            if subscriptions[index].tick() { hasLosses = true }
            handOver(index)
        }
        warnOfSilence(at: now)
        if isFeedSilent(hasLosses: hasLosses) {
            log(.warning, "the feed is silent; reconnecting", ["bus": "\(address)"])
            actions.append(.renewFeed(feedPrefixes))
            subscribePlans()
        }
        if isIngressSilent() {
            log(.warning, "the broker does not answer; reconnecting", ["bus": "\(address)"])
            actions.append(.renewIngress)
            send(outbox.resend(onNewConnection: true))
        } else {
            send(outbox.unblock())
        }
        for id in plans.keys {
            // The feed may have dropped the confirmation, so the inbox is subscribed to again.
            let inbox = inbox(of: id)
            actions += [.unsubscribe([inbox]), .subscribe([inbox])]
        }
        // An unanswered hello that was sent since the last tick serves as the hello of this tick. While the hello of an
        // earlier tick is unanswered, this block is skipped.
        isHelloRefused = false
        if bye == nil, hello == nil || hello?.pollsHeads == false {
            hello?.pollsHeads = true
            greet(pollsHeads: true)
            renewClaims()
            recordProgress(settled: settled)
            if !queries.isEmpty { register() }
        }
        readPages()
        return drainActions()
    }

    private mutating func warnOfSilence(at now: Instant) {
        guard let last = lastReceived, now - last > .seconds(4) else { return }
        lastReceived = now
        log(.warning, "no broker answers", ["bus": "\(address)", "waiting": "\(outbox.count)"])
    }

    /// True if the feed has brought nothing for too long although a message is missing or a subscription is not
    /// confirmed.
    private mutating func isFeedSilent(hasLosses: Bool) -> Bool {
        let isLossy = hasLosses && quietFeed.losses.miss()
        let isUnconfirmed = !plans.isEmpty && hello == nil && quietFeed.confirmations.miss()
        return isLossy || isUnconfirmed
    }

    /// True if the ingress has brought no answer for too long. Always false for IPC.
    private mutating func isIngressSilent() -> Bool {
        address.directory == nil && outbox.awaitsAnswers && quietIngress.miss()
    }

    // MARK: Replies

    /// Handles a reply from the ingress.
    mutating func receive(_ reply: Reply, to id: UInt64, at now: Instant) -> [Action] {
        lastReceived = now
        quietIngress.recordActivity()
        if case .refused(let error) = reply, error.code == .malformed, case .hello(let greeting) = outbox[id],
            greeting.asksForMore
        {
            journal.shortenGreetings()
            send(outbox.replace(id, with: .hello(journal.greeting)))
        } else {
            switch outbox.receive(reply, to: id, at: now) {
            case .answered(let request): handle(reply, to: request, id: id, at: now)
            case .failed(let error): actions.append(.fail(id: id, error))
            case .none: break
            }
        }
        // While the broker cannot use its journal, each hello would be refused, and so would what is sent again after it.
        if outbox.isOutOfSequence, !isHelloRefused { greet() }
        send(outbox.admitWaiting())
        readPages()
        return drainActions()
    }

    private mutating func handle(_ reply: Reply, to request: PendingRequest, id: UInt64, at now: Instant) {
        if let leases = request.leases, case .published = reply {
            leased.apply(leases, at: id)
            leased.forgetEnded(before: outbox.firstID ?? .max)
        }
        switch request.purpose {
        case .caller:
            if case .welcome(let welcome) = reply, case .hello(let greeting) = request.request {
                follow(welcome, after: greeting)
            }
            if case .published(let epoch, let offset) = reply { journal.see(offset, of: epoch) }
            actions.append(.answer(id: id, reply))
            if case .bye = request.request { actions.append(.close(after: .zero)) }
        case .greeting:
            guard let hello, hello.id == id else { break }
            self.hello = nil
            guard case .welcome(let welcome) = reply, case .hello(let greeting) = request.request else {
                isHelloRefused = true
                send(outbox.lost(before: request, recorded: nil))
                break
            }
            isHelloRefused = false
            follow(welcome, after: greeting)
            restoreSequence(welcome, answered: hello.answered)
            send(outbox.lost(before: request, recorded: welcome.sequence))
            compareLeases(welcome, leased: hello.leased, at: now)
            if hello.pollsHeads { pollHeads(head: welcome.head, judgeNow: false) }
        case .heads(let asking, let judgeNow):
            guard case .heads(let heads) = reply, heads.epoch == journal.epoch else { break }
            receive(heads, for: asking, judgeNow: judgeNow)
        case .page(let subscription): receive(page: reply, to: id, for: subscription)
        case .renewal(let subscription): renewed(reply, for: subscription)
        case .none:
            if case .published(let epoch, let offset) = reply, request.isBatch { journal.see(offset, of: epoch) }
            if case .refused(let error) = reply, [.fenced, .epoch].contains(error.code),
                case .publish(let batch) = request.request, let condition = batch.checkpoint
            {
                leased.end(condition)
            }
        }
    }

    // MARK: Hello

    private mutating func greet(pollsHeads: Bool = false) {
        guard hello == nil, bye == nil else { return }
        let (answered, leased) = (outbox.answeredSequence, leased.count)
        let id = enqueue(.hello(journal.greeting), for: .greeting)
        hello = Hello(id: id, answered: answered, leased: leased, pollsHeads: pollsHeads)
    }

    /// Says hello with the current state. An unanswered earlier hello is dropped.
    private mutating func greetAgain() {
        if let hello { outbox.remove(hello.id) }
        hello = nil
        greet()
    }

    private mutating func follow(_ welcome: Welcome, after greeting: Greeting) {
        follow(epoch: welcome.epoch, start: welcome.more?.start)
        if journal.hasLostEnd(welcome, after: greeting) { rewind(to: welcome.head) }
        journal.record(welcome)
    }

    /// Follows the journal to another epoch. Subscriptions with a claim end, and those with an end position fail; the
    /// others start again.
    /// - Parameter start: The offset at which the epoch began; `nil` if the broker does not say.
    private mutating func follow(epoch: UInt64, start: UInt64?) {
        guard journal.follow(epoch) else { return }
        log(.warning, "the journal has a new epoch", ["epoch": "\(String(epoch, radix: 16))"])
        for index in subscriptions.indices {
            subscriptions[index].restart(from: start ?? 0)
            handOver(index)
        }
        areLeasesInDoubt = true
    }

    /// Goes back to the end of a journal that has lost messages which this client has seen since its last hello.
    private mutating func rewind(to head: UInt64) {
        log(
            .warning, "the journal has lost its last messages; reading the new ones in their place",
            ["seen": "\(journal.lastSeen)", "end": "\(head)"])
        journal.rewind(to: head)
        // Their answers could leave out messages after the new end.
        outbox.removeReads()
        for index in subscriptions.indices { subscriptions[index].rewind(to: head) }
        dropClaims()
        areLeasesInDoubt = true
    }

    /// Makes durable consumers claim again, because the journal may have lost their recorded progress. The callers of
    /// unanswered batches with a checkpoint get an error.
    private mutating func dropClaims() {
        for index in subscriptions.indices where subscriptions[index].claim != nil {
            subscriptions[index].finish()
            handOver(index)
        }
        let error = BusError(.epoch, "the journal may have lost its last messages; claim again")
        for id in outbox.dropCheckpoints() { actions.append(.fail(id: id, error)) }
    }

    /// Sends all unanswered requests again if the broker lacks a batch. If it lacks a batch that it has answered,
    /// durable consumers claim again, and the unanswered batches, except transient ones, get new sequence numbers.
    ///
    /// - Parameter answered: The sequence number of the last batch that had been answered when the hello was created.
    private mutating func restoreSequence(_ welcome: Welcome, answered: UInt64) {
        if welcome.sequence < answered {
            log(
                .warning, "the broker has forgotten batches that it had acknowledged",
                ["answered": "\(outbox.answeredSequence)", "left": "\(welcome.sequence)"])
            dropClaims()
            outbox.renumber(after: welcome.sequence)
        }
        send(outbox.restoreSequence())
    }

    /// Publishes the leased documents again if the broker holds fewer of them than it has acknowledged, but at most
    /// once in 5 s. Also publishes them again, without this limit, if ``areLeasesInDoubt``.
    private mutating func compareLeases(_ welcome: Welcome, leased count: Int, at now: Instant) {
        let isMissing = welcome.more.map { $0.leased < min(count, leased.count) } ?? false
        let isDue = lastLeaseRenewal.map { now - $0 > .seconds(5) } ?? true
        if areLeasesInDoubt || isMissing && isDue { renewLeases(at: now) }
        areLeasesInDoubt = false
    }

    private mutating func renewLeases(at now: Instant) {
        // Documents that unanswered batches change are left out.
        let batches = leased.batches(except: outbox.changingLeases)
        guard !batches.isEmpty else { return }
        lastLeaseRenewal = now
        log(.notice, "leased documents are published again", ["count": "\(leased.count)"])
        for (condition, messages) in batches {
            let request = PublishRequest(
                producer: producer, sequence: 0, isLeased: true, checkpoint: condition, messages: messages)
            enqueue(.publish(request), for: .none)
        }
    }

    // MARK: Subscriptions

    /// Begins a subscription. The action `confirm` follows when it is live, or `refuse` if it cannot begin.
    mutating func subscribe(_ plan: Subscription.Plan, id: UInt64) -> [Action] {
        guard state != .closed else { return [.refuse(subscription: id, closed)] }
        plans[id] = plan
        subscribeOnFeed(plan, id: id)
        return drainActions()
    }

    /// Ends a subscription, whether it is live or not.
    mutating func unsubscribe(_ id: UInt64) -> [Action] {
        if let plan = plans.removeValue(forKey: id) {
            actions.append(.unsubscribe(plan.prefixes + [inbox(of: id)]))
        } else if let index = index(of: id) {
            actions.append(.unsubscribe(subscriptions.remove(at: index).prefixes))
        }
        return drainActions()
    }

    /// Dequeues the next buffered messages of a subscription.
    mutating func dequeue(from id: UInt64) -> (messages: [FeedTracker.Delivery], actions: [Action]) {
        let messages = index(of: id).map { subscriptions[$0].dequeueBuffered() } ?? []
        readPages()
        return (messages, drainActions())
    }

    /// Begins a wait of a subscription's reader.
    /// - Parameter number: A number from ``nextID()``.
    mutating func wait(for id: UInt64, number: UInt64) -> [Action] {
        guard let index = index(of: id) else {
            return [.interrupt(subscription: id, BusError(.closed, "the subscription has ended"))]
        }
        subscriptions[index].beginWaiting(number)
        handOver(index)
        readPages()
        return drainActions()
    }

    /// Cancels a wait of a subscription's reader.
    mutating func stopWaiting(for id: UInt64, number: UInt64) -> [Action] {
        guard let index = index(of: id), subscriptions[index].stopWaiting(number) else { return [] }
        return [.interrupt(subscription: id, CancellationError())]
    }

    private func index(of id: UInt64) -> Int? { subscriptions.firstIndex { $0.id == id } }

    /// The prefixes that a new connection of the feed subscribes to first. They include the prefix of the client's
    /// inboxes. The broker's answer to it shows that the feed is connected.
    var feedPrefixes: [String] { subscriptions.flatMap(\.prefixes) + [Inbox.prefix(of: client)] }

    /// Subscribes to the inbox last: its answer shows that the other prefixes are live.
    private mutating func subscribeOnFeed(_ plan: Subscription.Plan, id: UInt64) {
        actions.append(.subscribe(plan.prefixes + [inbox(of: id)]))
    }

    private mutating func subscribePlans() {
        for (id, plan) in plans { subscribeOnFeed(plan, id: id) }
    }

    private func inbox(of id: UInt64) -> String { Inbox.prefix(of: client) + String(id) }

    /// Handles the broker's answer, on the feed, to the subscription of an inbox.
    /// - Parameter head: The end of the journal when the broker answered.
    mutating func confirm(inbox: String, epoch: UInt64, head: UInt64) -> [Action] {
        recordFeedActivity()
        if journal.epoch == 0 { follow(epoch: epoch, start: nil) }
        // The prefix is answered after each connection of the feed: the broker may be a newer one.
        let common = Inbox.prefix(of: client)
        let isConnected = inbox == common
        if isConnected { journal.lengthenGreetings() }
        if epoch != journal.epoch {
            // The answer may be about an earlier or a later journal. The reply to a hello decides.
            if isConnected { greetAgain() } else { greet() }
        } else if isConnected {
            // Messages may have been published while the feed was not connected. The broker may be a newer one, and the
            // requests to the former one lost: the answer to a hello shows it of all but queries.
            send(outbox.sentQueries)
            greetAgain()
            pollHeads(head: head, judgeNow: true)
        } else if let id = inbox.removing(prefix: common).flatMap({ UInt64($0) }),
            let plan = plans.removeValue(forKey: id)
        {
            actions.append(.unsubscribe([inbox]))
            begin(plan, id: id, head: head)
        }
        readPages()
        return drainActions()
    }

    private mutating func begin(_ plan: Subscription.Plan, id: UInt64, head: UInt64) {
        if let reason = mistake(in: plan, head: head) {
            actions.append(.unsubscribe(plan.prefixes))
            actions.append(.refuse(subscription: id, BusError(.epoch, reason)))
        } else {
            subscriptions.append(Subscription(plan, id: id, head: head))
            actions.append(.confirm(subscription: id))
        }
    }

    /// The reason why a subscription cannot start or end at its positions; nil if it can.
    private func mistake(in plan: Subscription.Plan, head: UInt64) -> String? {
        let start: Position? = if case .after(let position) = plan.start { position } else { nil }
        let end = Position(epoch: journal.epoch, offset: head)
        for position in [start, plan.end].compactMap(\.self) where ![0, journal.epoch].contains(position.epoch) {
            return "position \(position) belongs to another journal; this one ends at \(end)"
        }
        guard let position = start else { return nil }
        return position.offset > head ? "position \(position) is beyond the end of the journal (\(end))" : nil
    }

    /// Handles messages of the feed.
    /// - Parameter messages: All of one topic and epoch.
    mutating func receive(live messages: [FeedMessage]) -> [Action] {
        recordFeedActivity()
        // Messages of another epoch are ignored.
        guard let last = messages.last, last.epoch == journal.epoch else { return [] }
        journal.see(last.offset, of: last.epoch)
        for index in subscriptions.indices {
            subscriptions[index].receive(live: messages)
            handOver(index)
        }
        readPages()
        return drainActions()
    }

    private mutating func recordFeedActivity() {
        quietFeed.losses.recordActivity()
        quietFeed.confirmations.recordActivity()
    }

    /// Resumes the reader of a subscription if it waits and there is something to deliver, or the subscription has
    /// ended or failed.
    private mutating func handOver(_ index: Int) {
        let id = subscriptions[index].id
        switch subscriptions[index].handOver() {
        case .messages(let messages): actions.append(.deliver(subscription: id, messages))
        case .failure(let error): actions.append(.interrupt(subscription: id, error))
        case nil: break
        }
    }

    /// Requests the last offsets of topics, for the subscriptions that have not requested them since the journal has
    /// grown.
    private mutating func pollHeads(head: UInt64, judgeNow: Bool) {
        let asking = subscriptions.filter { $0.polledThrough < head }
        guard let after = asking.map(\.polledThrough).min() else { return }
        let prefixes = Set(asking.flatMap(\.prefixes)).sorted()
        let request = PageRequest(epoch: journal.epoch, after: after, prefixes: prefixes)
        enqueue(.heads(request), for: .heads(subscriptions: asking.map(\.id), judgeNow: judgeNow))
    }

    /// Handles the last offsets of topics.
    /// - Parameter asking: The subscriptions for which the request was made. The answer does not contain the topics of
    ///   later subscriptions.
    private mutating func receive(_ heads: Heads, for asking: [UInt64], judgeNow: Bool) {
        for index in asking.compactMap({ index(of: $0) }) {
            subscriptions[index].record(heads)
            guard judgeNow else { continue }
            subscriptions[index].judge()
            handOver(index)
        }
    }

    /// Requests the pages that subscriptions need and have room for.
    private mutating func readPages() {
        for index in subscriptions.indices {
            guard let phase = subscriptions[index].nextRead else { continue }
            let prefixes = subscriptions[index].prefixes
            let request: Request
            switch phase {
            case .live: continue
            case .journal(let after):
                request = .read(PageRequest(epoch: journal.epoch, after: after, prefixes: prefixes))
            case .documents(let after):
                request = .documents(PageRequest(epoch: journal.epoch, after: after, prefixes: prefixes))
            }
            let id = enqueue(request, for: .page(subscription: subscriptions[index].id))
            subscriptions[index].recordRead(id)
        }
    }

    private mutating func receive(page reply: Reply, to request: UInt64, for id: UInt64) {
        guard let index = index(of: id) else { return }
        switch reply {
        case .page(let page) where page.epoch == journal.epoch:
            for offset in page.damaged {
                log(.error, "a message was skipped: the journal is damaged", ["offset": "\(offset)"])
            }
            journal.see(page.through, of: page.epoch)
            let notices = subscriptions[index].receive(page, to: request)
            if !notices.isEmpty { actions.append(.notify(subscription: id, notices)) }
            handOver(index)
        case .refused(let error):
            // For example, the journal was replaced or cannot be read now.
            subscriptions[index].refuse(request, untilNextTick: true)
            log(.warning, "the broker refused to read a page of the journal", ["reason": "\(error)"])
            if error.code == .epoch { greet() }
        default: subscriptions[index].refuse(request, untilNextTick: false)
        }
    }

    // MARK: Claims

    /// Tells the broker that the members are alive, and asks if their claims are still valid.
    private mutating func renewClaims() {
        for index in subscriptions.indices {
            guard let claim = subscriptions[index].renew() else { continue }
            let request = ClaimRequest(
                producer: producer, member: claim.member, consumer: claim.consumer, purpose: .renewal)
            enqueue(.claim(request), for: .renewal(subscription: subscriptions[index].id))
        }
    }

    /// Records the progress of members past messages that are not for them.
    private mutating func recordProgress(settled: (UInt64, UInt64) -> UInt64) {
        for index in subscriptions.indices {
            let id = subscriptions[index].id
            let checkpoint = subscriptions[index].progress(in: journal.epoch) { settled(id, $0) }
            guard let checkpoint else { continue }
            let request = PublishRequest(producer: producer, sequence: 0, checkpoint: checkpoint, messages: [])
            enqueue(.publish(request), for: .none)
        }
    }

    private mutating func renewed(_ reply: Reply, for id: UInt64) {
        guard let index = index(of: id) else { return }
        if case .refused(let error) = reply {
            log(.warning, "a claim could not be renewed", ["reason": "\(error)"])
        }
        let claimed: Claimed? = if case .claimed(let claimed) = reply { claimed } else { nil }
        subscriptions[index].renewed(claimed)
        handOver(index)
    }

    // MARK: Queries

    /// Adds a server of queries. The caller then sends ``registration``.
    mutating func addServer(_ types: [MessageType], id: UInt64) {
        queries.add(types, as: id)
    }

    /// Removes a server of queries. Its unanswered queries are refused.
    mutating func removeServer(_ id: UInt64) -> [Action] {
        guard state != .closed, let open = queries.remove(id) else { return [] }
        for query in open {
            actions.append(.stopWork(query: query))
            refuse(query, .cancelled, "the process stopped serving the query")
        }
        // Even if the registration failed, the broker may have received it.
        register()
        return drainActions()
    }

    /// The request that registers all types that this process serves.
    var registration: Request { .serve(ServeRequest(producer: producer, types: queries.types)) }

    /// Registers the served types. Repeated by ``tick(at:settled:)``: a broker that was restarted has forgotten them.
    private mutating func register() {
        outbox.supersedeServe(with: registration)
        enqueue(registration, for: .none)
    }

    /// Handles a query from the broker, or the cancellation of one.
    mutating func receive(_ notice: Notice, at now: Instant) -> [Action] {
        lastReceived = now
        quietIngress.recordActivity()
        switch notice {
        case .cancel(let id):
            queries.finish(id)
            actions.append(.stopWork(query: id))
        case .query(let id, let message):
            switch queries.receive(message, id: id, source: source) {
            case .work(let server): actions.append(.work(query: id, message, server: server))
            case .refuse(let reason): refuse(id, .unserved, reason)
            case .none: break
            }
        }
        return drainActions()
    }

    /// Handles the end of a server's work on a query.
    /// - Parameter content: The answer or an error; `nil` if the asker no longer waits.
    mutating func answer(_ query: UInt64, _ content: QueryAnswer.Content?) -> [Action] {
        guard state != .closed else { return [] }
        queries.finish(query)
        actions.append(.stopWork(query: query))
        if let content { enqueue(.answer(QueryAnswer(query: query, content: content)), for: .none) }
        return drainActions()
    }

    private mutating func refuse(_ query: UInt64, _ code: ProtocolError.Code, _ reason: String) {
        let content = QueryAnswer.Content.failure(ProtocolError(code, reason))
        enqueue(.answer(QueryAnswer(query: query, content: content)), for: .none)
    }

    private mutating func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        actions.append(.log(level, message, metadata))
    }
}

/// Counts the seconds in which a socket receives nothing although something is due. When the limit is reached, the
/// client makes a new connection.
struct SilenceCounter {
    private let (first, longest): (Int, Int)
    private var limit: Int
    private var count = 0

    /// - Parameter longest: The limit doubles each time it is reached, up to this. Nil if it stays the same.
    init(limit: Int, longest: Int? = nil) {
        (self.limit, first, self.longest) = (limit, limit, longest ?? limit)
    }

    /// Records that the socket has received something.
    mutating func recordActivity() {
        (count, limit) = (0, first)
    }

    /// Counts a second without a message.
    /// - Returns: True if the limit is reached; then the count starts again.
    mutating func miss() -> Bool {
        count += 1
        guard count >= limit else { return false }
        (count, limit) = (0, min(2 * limit, longest))
        return true
    }
}
