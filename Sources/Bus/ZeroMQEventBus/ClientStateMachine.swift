internal import BusProtocol
internal import EventBus
internal import Logging
internal import OrderedCollections

/// The protocol of the bus client, without sockets, clocks and tasks: a value that takes inputs and returns actions.
///
/// Inputs are the callers' requests, what comes on the two sockets, and the time; ``ZeroMQEventBus`` performs the actions, in their
/// order. `docs/wire-protocol.md` describes the protocol. The parts of the state are values of their own: ``Outbox`` (requests and
/// sequences), ``KnownJournal`` (epochs), ``Subscription`` (the feed, pages, a claim), ``LeasedDocuments``, ``ServedQueries``.
struct ClientStateMachine {
    typealias Instant = ContinuousClock.Instant

    enum State { case idle, open, closed }

    enum Action {
        /// Send a request on the ingress, then say ``noteSent(_:at:)`` or ``block()``.
        case send(id: UInt64, Request)
        /// Call ``wake(at:)`` after this time.
        case wake(after: Duration)
        /// Resume the caller of a request.
        case answer(id: UInt64, Reply)
        case fail(id: UInt64, any Error)
        /// Resume the caller that waits for a subscription to become live.
        case confirm(subscription: UInt64)
        case refuse(subscription: UInt64, any Error)
        /// Resume the reader of a subscription. No messages are the end.
        case deliver(subscription: UInt64, [FeedTracker.Delivery])
        case interrupt(subscription: UInt64, any Error)
        case notify(subscription: UInt64, [SubscriptionNotice])
        /// Subscribe to prefixes of topics on the feed, in this order.
        case subscribe([String])
        case unsubscribe([String])
        /// Connect a socket anew. The feed subscribes to the prefixes first.
        case renewFeed([String])
        case renewIngress
        /// Have a server work on a query, by the broker's number.
        case work(query: UInt64, PublishedMessage, server: UInt64)
        case stopWork(query: UInt64)
        /// Call ``close()``.
        case close(after: Duration)
        case log(Logger.Level, Logger.Message, Logger.Metadata)
    }

    /// For log lines and errors.
    private let address: BusAddress
    private let source: String
    private let producer: ProducerID
    private let client: ProducerID

    private(set) var state = State.idle
    private var lastID: UInt64 = 0
    private(set) var outbox: Outbox
    private(set) var journal: KnownJournal
    /// The hello that awaits its answer: one at a time, however long the broker is away.
    private var hello: Hello?
    /// Those that the broker has not confirmed.
    private var plans: OrderedDictionary<UInt64, Subscription.Plan> = [:]
    private var subscriptions: [Subscription] = []
    private var queries = ServedQueries()
    private var leased = LeasedDocuments()
    /// Whether the journal may hold other leased documents, or none: it is another one, or has lost its end.
    private var areLeasesInDoubt = false
    /// When leased documents were last published again.
    private var lastLeaseRenewal: Instant?

    /// The seconds in which the feed brought nothing although a message, or a confirmation, was due.
    private var quietFeed = (losses: SilenceCounter(limit: 2), confirmations: SilenceCounter(limit: 3))
    private var quietIngress = SilenceCounter(limit: 6)
    /// When the broker last answered, or the bus was opened; moved on by a warning, so that one comes every few seconds.
    private var lastHeard: Instant?
    /// Whether a call of ``wake(at:)`` is due.
    private var willWake = false
    /// What the input under way leads to.
    private var actions: [Action] = []

    /// A hello under way, and the state of the client when it was said.
    private struct Hello {
        let id: UInt64
        /// The last batch that had been answered.
        let answered: UInt64
        /// The number of leased documents that were journalled.
        let leased: Int
        /// Whether losses are looked for when it is answered: once a second, since the feed needs some time.
        var pollsHeads: Bool
    }

    /// - Parameters:
    ///   - producer: what the broker knows this process by.
    ///   - client: what inboxes on the feed are named by.
    init(address: BusAddress, source: String, producer: ProducerID = ProducerID(), client: ProducerID = ProducerID()) {
        self.address = address
        self.source = source
        self.producer = producer
        self.client = client
        outbox = Outbox(producer: producer)
        journal = KnownJournal(producer: producer)
    }

    private mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// A number for a request, a subscription or a server.
    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Opening and closing

    /// The sockets are connected for the first time.
    mutating func open(at now: Instant) -> [Action] {
        state = .open
        lastHeard = now
        subscribePlans()
        return takeActions()
    }

    /// Says good-bye, and closes when the broker has heard it, or after a moment. A broker that has never answered has nothing of
    /// this process to hand over, and is not waited for.
    mutating func leave() -> [Action] {
        guard state == .open else { return [.close(after: .zero)] }
        enqueue(.bye(journal.greeting), for: .caller)
        actions.append(.close(after: journal.epoch == 0 ? .zero : .milliseconds(500)))
        return takeActions()
    }

    /// Ends whatever waits.
    mutating func close() -> [Action] {
        guard state != .closed else { return [] }
        state = .closed
        let error = closed
        for id in outbox.close() { actions.append(.fail(id: id, error)) }
        for id in plans.keys { actions.append(.refuse(subscription: id, error)) }
        for subscription in subscriptions { actions.append(.interrupt(subscription: subscription.id, error)) }
        (plans, subscriptions, queries) = ([:], [], ServedQueries())
        return takeActions()
    }

    private var closed: BusError { BusError(.closed, "the connection to \(address) was closed") }

    // MARK: Requests

    /// Asks for a caller, however long the broker is away.
    /// - Parameter batch: what the request publishes, if it does.
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
        return takeActions()
    }

    /// Sends a request to which nobody needs the answer.
    mutating func tell(_ request: Request) -> [Action] {
        guard state != .closed else { return [] }
        enqueue(request, for: .none)
        return takeActions()
    }

    /// Stops waiting for the answer to a request.
    mutating func cancel(_ id: UInt64, throwing error: any Error) -> [Action] {
        guard let request = outbox.cancel(id) else { return [] }
        // The broker need not be told of what was never sent: it may be away for long.
        if request.isQuery, request.resending.sentAt != nil { enqueue(.cancel(id), for: .none) }
        actions.append(.fail(id: id, error))
        return takeActions()
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

    /// The ingress has taken a request.
    mutating func noteSent(_ id: UInt64, at now: Instant) {
        outbox.noteSent(id, at: now)
    }

    /// The ingress takes no more: nothing is sent until ``unblock()`` or the next tick.
    mutating func block() {
        outbox.block()
    }

    /// The ingress takes requests again.
    mutating func unblock() -> [Action] {
        send(outbox.unblock())
        return takeActions()
    }

    /// Sends again what is overdue. The sooner a hello has told of the journal's end, the less can be lost without a mark: so while
    /// the journal grows, a hello is said each time.
    mutating func wake(at now: Instant) -> [Action] {
        willWake = false
        guard state == .open else { return [] }
        send(outbox.overdue(at: now))
        if journal.hasGrown { greet() }
        if !willWake, outbox.awaitsAnswers {
            willWake = true
            actions.append(.wake(after: Resending.shortestWait))
        }
        return takeActions()
    }

    // MARK: Time

    /// Once a second: says that the process lives, and looks for losses and for connections that have fallen silent.
    /// - Parameter settled: the offset up to which the reader of a subscription has handled everything when everything up to the
    ///   second argument was delivered to it.
    mutating func tick(at now: Instant, settled: (_ subscription: UInt64, _ delivered: UInt64) -> UInt64) -> [Action] {
        guard state == .open else { return [] }
        var hasLosses = false
        for index in subscriptions.indices {
            if subscriptions[index].tick() { hasLosses = true }
            handOver(index)
        }
        warnOfSilence(at: now)
        if isFeedSilent(hasLosses: hasLosses) {
            log(.warning, "the feed brings nothing, and is connected again", ["bus": "\(address)"])
            actions.append(.renewFeed(feedPrefixes))
            subscribePlans()
        }
        if isIngressSilent() {
            log(.warning, "the broker does not answer, and is connected again", ["bus": "\(address)"])
            actions.append(.renewIngress)
            send(outbox.resend())
        } else {
            send(outbox.unblock())
        }
        for id in plans.keys {
            // A confirmation can be dropped like any message of the feed.
            let inbox = inbox(of: id)
            actions += [.unsubscribe([inbox]), .subscribe([inbox])]
        }
        // A hello under way is the one of this second; but one that is late is not overtaken by other requests.
        if hello == nil || hello?.pollsHeads == false {
            hello?.pollsHeads = true
            greet(pollsHeads: true)
            renewClaims()
            recordProgress(settled: settled)
            if !queries.isEmpty { register() }
        }
        readPages()
        return takeActions()
    }

    private mutating func warnOfSilence(at now: Instant) {
        guard let last = lastHeard, now - last > .seconds(4) else { return }
        lastHeard = now
        log(.warning, "no broker answers", ["bus": "\(address)", "waiting": "\(outbox.count)"])
    }

    /// Whether the feed has brought nothing for too long. It is judged only while the broker answers.
    private mutating func isFeedSilent(hasLosses: Bool) -> Bool {
        let isLossy = hasLosses && quietFeed.losses.miss()
        let isUnconfirmed = !plans.isEmpty && hello == nil && quietFeed.confirmations.miss()
        return isLossy || isUnconfirmed
    }

    /// The same of the ingress, over TCP only: a connection within a machine does not fall silent.
    private mutating func isIngressSilent() -> Bool {
        address.directory == nil && outbox.awaitsAnswers && quietIngress.miss()
    }

    // MARK: Replies

    /// A reply has come on the ingress.
    mutating func receive(_ reply: Reply, to id: UInt64, at now: Instant) -> [Action] {
        lastHeard = now
        quietIngress.hear()
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
        if outbox.isOutOfSequence { greet() }
        send(outbox.admitWaiting())
        readPages()
        return takeActions()
    }

    private mutating func handle(_ reply: Reply, to request: PendingRequest, id: UInt64, at now: Instant) {
        if let leases = request.leases, case .published = reply {
            leased.apply(leases, of: id)
            leased.forgetWithdrawn(before: outbox.firstID ?? .max)
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
            guard case .welcome(let welcome) = reply, case .hello(let greeting) = request.request else { break }
            follow(welcome, after: greeting)
            restoreSequence(welcome, answered: hello.answered)
            compareLeases(welcome, leased: hello.leased, at: now)
            if hello.pollsHeads { pollHeads(head: welcome.head, judgeNow: false) }
        case .heads(let asking, let judgeNow):
            guard case .heads(let heads) = reply, heads.epoch == journal.epoch else { break }
            receive(heads, for: asking, judgeNow: judgeNow)
        case .page(let subscription): receive(page: reply, to: id, for: subscription)
        case .renewal(let subscription): renewed(reply, for: subscription)
        case .none:
            if case .published(let epoch, let offset) = reply, request.isBatch { journal.see(offset, of: epoch) }
        }
    }

    // MARK: Hello

    private mutating func greet(pollsHeads: Bool = false) {
        guard hello == nil else { return }
        let (answered, leased) = (outbox.answeredSequence, leased.count)
        let id = enqueue(.hello(journal.greeting), for: .greeting)
        hello = Hello(id: id, answered: answered, leased: leased, pollsHeads: pollsHeads)
    }

    /// Says hello with what has been seen now, though an earlier hello was not answered: it may be another broker that will.
    private mutating func greetAgain() {
        if let hello { outbox.remove(hello.id) }
        hello = nil
        greet()
    }

    private mutating func follow(_ welcome: Welcome, after greeting: Greeting) {
        follow(epoch: welcome.epoch, start: welcome.more?.start)
        if journal.hasLostEnd(welcome, after: greeting) { takeBack(to: welcome.head) }
        journal.note(welcome)
    }

    /// In another epoch everything is read anew. Which batches of this producer the journal has is what the answer to a hello says,
    /// as ever: it may be the same file.
    /// - Parameter start: where the epoch began; `nil` from a broker that does not say.
    private mutating func follow(epoch: UInt64, start: UInt64?) {
        guard journal.follow(epoch) else { return }
        log(.warning, "the broker has a new journal", ["epoch": "\(String(epoch, radix: 16))"])
        for index in subscriptions.indices {
            subscriptions[index].restart(from: start ?? 0)
            handOver(index)
        }
        areLeasesInDoubt = true
    }

    /// The journal has lost what this client has seen of it since its last hello: no mark tells the broker of that. What comes
    /// there now is new.
    private mutating func takeBack(to head: UInt64) {
        log(
            .warning, "the journal has lost its end; what comes in its place is read",
            ["seen": "\(journal.lastSeen)", "end": "\(head)"])
        journal.takeBack(to: head)
        // A page that was asked for beyond the end would leave out what comes before it.
        outbox.removeReads()
        for index in subscriptions.indices { subscriptions[index].takeBack(to: head) }
        dropClaims()
        areLeasesInDoubt = true
    }

    /// Lets durable consumers claim again: what they have recorded may be lost. Progress that is under way would count what they
    /// have handled before as well.
    private mutating func dropClaims() {
        for index in subscriptions.indices where subscriptions[index].claim != nil {
            subscriptions[index].finish()
            handOver(index)
        }
        let error = BusError(.epoch, "the journal has lost its end")
        for id in outbox.dropCheckpoints() { actions.append(.fail(id: id, error)) }
    }

    /// Sends again what the broker lacks. If it lacks what it has answered, it has forgotten this producer, or lost the journal's
    /// end: then batches are numbered anew.
    ///
    /// Only a hello that was said after an answer tells anything of it: the hello may have waited for a broker whose journal was
    /// put back, and the next one tells that broker so.
    /// - Parameter answered: the last batch that had been answered when the hello was said.
    private mutating func restoreSequence(_ welcome: Welcome, answered: UInt64) {
        if welcome.sequence < answered {
            log(
                .warning, "the broker has forgotten batches",
                ["answered": "\(outbox.answeredSequence)", "left": "\(welcome.sequence)"])
            dropClaims()
            outbox.renumber(after: welcome.sequence)
        }
        send(outbox.restoreSequence())
    }

    /// Publishes the leased documents again when the broker holds fewer of them than it has acknowledged: this process was silent
    /// for too long. Another process may have taken one over, so this is done no more often than leases end. A journal that has
    /// lost its end may hold older documents.
    private mutating func compareLeases(_ welcome: Welcome, leased count: Int, at now: Instant) {
        let isMissing = welcome.more.map { $0.leased < min(count, leased.count) } ?? false
        let isDue = lastLeaseRenewal.map { now - $0 > .seconds(5) } ?? true
        if areLeasesInDoubt || isMissing && isDue { renewLeases(at: now) }
        areLeasesInDoubt = false
    }

    private mutating func renewLeases(at now: Instant) {
        // Batches under way bring what is newer, or withdraw what is older.
        let batches = leased.batches(except: outbox.changingLeases)
        guard !batches.isEmpty else { return }
        lastLeaseRenewal = now
        log(.notice, "leased documents are published again", ["count": "\(leased.count)"])
        for messages in batches {
            let request = PublishRequest(producer: producer, sequence: 0, isLeased: true, messages: messages)
            enqueue(.publish(request), for: .none)
        }
    }

    // MARK: Subscriptions

    /// Begins a subscription. The caller is told when it is live.
    mutating func subscribe(_ plan: Subscription.Plan, id: UInt64) -> [Action] {
        guard state != .closed else { return [.refuse(subscription: id, closed)] }
        plans[id] = plan
        subscribeOnFeed(plan, id: id)
        return takeActions()
    }

    /// Ends a subscription, whether it is live or not.
    mutating func unsubscribe(_ id: UInt64) -> [Action] {
        if let plan = plans.removeValue(forKey: id) {
            actions.append(.unsubscribe(plan.prefixes + [inbox(of: id)]))
        } else if let index = index(of: id) {
            actions.append(.unsubscribe(subscriptions.remove(at: index).prefixes))
        }
        return takeActions()
    }

    /// Takes the next messages of a subscription that are here already.
    mutating func take(from id: UInt64) -> (messages: [FeedTracker.Delivery], actions: [Action]) {
        let messages = index(of: id).map { subscriptions[$0].takeBuffered() } ?? []
        readPages()
        return (messages, takeActions())
    }

    /// The reader of a subscription waits for messages.
    /// - Parameter number: one of ``nextID()``.
    mutating func wait(for id: UInt64, number: UInt64) -> [Action] {
        guard let index = index(of: id) else {
            return [.interrupt(subscription: id, BusError(.closed, "the subscription has ended"))]
        }
        subscriptions[index].beginWaiting(number)
        handOver(index)
        readPages()
        return takeActions()
    }

    /// The reader of a subscription is to wait no longer.
    mutating func stopWaiting(for id: UInt64, number: UInt64) -> [Action] {
        guard let index = index(of: id), subscriptions[index].stopWaiting(number) else { return [] }
        return [.interrupt(subscription: id, CancellationError())]
    }

    private func index(of id: UInt64) -> Int? { subscriptions.firstIndex { $0.id == id } }

    /// What a new connection of the feed subscribes to first. The inbox has no number: the answer tells of a reconnection.
    var feedPrefixes: [String] { subscriptions.flatMap(\.prefixes) + [Inbox.prefix(of: client)] }

    /// The inbox last: its answer says that the others are live.
    private mutating func subscribeOnFeed(_ plan: Subscription.Plan, id: UInt64) {
        actions.append(.subscribe(plan.prefixes + [inbox(of: id)]))
    }

    private mutating func subscribePlans() {
        for (id, plan) in plans { subscribeOnFeed(plan, id: id) }
    }

    private func inbox(of id: UInt64) -> String { Inbox.prefix(of: client) + String(id) }

    /// The broker has answered a subscription to an inbox on the feed.
    /// - Parameter head: the journal's end at that moment.
    mutating func confirm(inbox: String, epoch: UInt64, head: UInt64) -> [Action] {
        hearFeed()
        if journal.epoch == 0 { follow(epoch: epoch, start: nil) }
        // The common inbox is answered after every connection of the feed: this may be a newer broker.
        let common = Inbox.prefix(of: client)
        let isConnected = inbox == common
        if isConnected { journal.lengthenGreetings() }
        if epoch != journal.epoch {
            // The feed and the ingress are two ways: this may be of the journal before, or of the one that a hello is about
            // to tell of. Only the ingress decides; an inbox is asked again every second.
            if isConnected { greetAgain() } else { greet() }
        } else if isConnected {
            // Something may have been published in between.
            send(outbox.resend())
            greetAgain()
            pollHeads(head: head, judgeNow: true)
        } else if let id = UInt64(inbox.dropFirst(common.count)), let plan = plans.removeValue(forKey: id) {
            actions.append(.unsubscribe([inbox]))
            begin(plan, id: id, head: head)
        }
        readPages()
        return takeActions()
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

    /// Why nobody can begin or end there.
    private func mistake(in plan: Subscription.Plan, head: UInt64) -> String? {
        let start: Position? = if case .after(let position) = plan.start { position } else { nil }
        for position in [start, plan.end].compactMap(\.self) where ![0, journal.epoch].contains(position.epoch) {
            return "the position \(position) belongs to a journal that is no longer there"
        }
        guard let position = start else { return nil }
        return position.offset > head ? "the position \(position) is behind the journal's end, \(head)" : nil
    }

    /// Messages have come on the feed.
    /// - Parameter messages: of one topic and epoch.
    mutating func receive(live messages: [FeedMessage]) -> [Action] {
        hearFeed()
        // Only what the broker says of itself tells of another journal: a message of the one before may still be under way
        // when that has been said. One of a journal that is not known yet is read from it later.
        guard let last = messages.last, last.epoch == journal.epoch else { return [] }
        journal.see(last.offset, of: last.epoch)
        for index in subscriptions.indices {
            subscriptions[index].receive(live: messages)
            handOver(index)
        }
        readPages()
        return takeActions()
    }

    private mutating func hearFeed() {
        quietFeed.losses.hear()
        quietFeed.confirmations.hear()
    }

    /// Resumes the reader of a subscription, if it waits and there is something for it.
    private mutating func handOver(_ index: Int) {
        let id = subscriptions[index].id
        switch subscriptions[index].handOver() {
        case .messages(let messages): actions.append(.deliver(subscription: id, messages))
        case .failure(let error): actions.append(.interrupt(subscription: id, error))
        case nil: break
        }
    }

    /// Asks which topics have grown, for those subscriptions that have not asked since the journal has.
    private mutating func pollHeads(head: UInt64, judgeNow: Bool) {
        let asking = subscriptions.filter { $0.polledThrough < head }
        guard let after = asking.map(\.polledThrough).min() else { return }
        let prefixes = Set(asking.flatMap(\.prefixes)).sorted()
        let request = PageRequest(epoch: journal.epoch, after: after, prefixes: prefixes)
        enqueue(.heads(request), for: .heads(subscriptions: asking.map(\.id), judgeNow: judgeNow))
    }

    /// - Parameter asking: the subscriptions that it was asked for: it says nothing of topics that others have subscribed to since.
    private mutating func receive(_ heads: Heads, for asking: [UInt64], judgeNow: Bool) {
        for index in asking.compactMap({ index(of: $0) }) {
            subscriptions[index].note(heads)
            guard judgeNow else { continue }
            subscriptions[index].judge()
            handOver(index)
        }
    }

    /// Asks for the pages that subscriptions need and have room for.
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
            subscriptions[index].noteRead(id)
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
            // Of an older journal, or of one that cannot be read now.
            subscriptions[index].refuse(request, untilNextTick: true)
            log(.warning, "a page was refused", ["reason": "\(error)"])
            if error.code == .epoch { greet() }
        default: subscriptions[index].refuse(request, untilNextTick: false)
        }
    }

    // MARK: Claims

    /// Says that the members live, and asks whether their claims still hold.
    private mutating func renewClaims() {
        for index in subscriptions.indices {
            guard let claim = subscriptions[index].renew() else { continue }
            let request = ClaimRequest(
                producer: producer, member: claim.member, consumer: claim.consumer, purpose: .renewal)
            enqueue(.claim(request), for: .renewal(subscription: subscriptions[index].id))
        }
    }

    /// Records how far members have come without a message for them.
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

    /// Offers to answer queries. The caller registers them with ``registration``.
    mutating func addServer(_ types: [MessageType], id: UInt64) {
        queries.add(types, as: id)
    }

    /// Stops answering queries. What is open is refused, so that its asker can ask again.
    mutating func removeServer(_ id: UInt64) -> [Action] {
        guard state != .closed, let open = queries.remove(id) else { return [] }
        for query in open {
            actions.append(.stopWork(query: query))
            refuse(query, .cancelled, "who served the query stopped")
        }
        // The broker may have heard of it even if its registration failed.
        register()
        return takeActions()
    }

    /// Everything that this process serves.
    var registration: Request { .serve(ServeRequest(producer: producer, types: queries.types)) }

    /// Tells the broker what is served: again and again, for a broker that was restarted has forgotten it.
    private mutating func register() {
        outbox.supersedeServe(with: registration)
        enqueue(registration, for: .none)
    }

    /// The broker hands over a query, or cancels one.
    mutating func receive(_ notice: Notice, at now: Instant) -> [Action] {
        lastHeard = now
        quietIngress.hear()
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
        return takeActions()
    }

    /// A server has ended its work on a query.
    /// - Parameter content: `nil` if nobody waits for it.
    mutating func answer(_ query: UInt64, _ content: QueryAnswer.Content?) -> [Action] {
        guard state != .closed else { return [] }
        queries.finish(query)
        actions.append(.stopWork(query: query))
        if let content { enqueue(.answer(QueryAnswer(query: query, content: content)), for: .none) }
        return takeActions()
    }

    private mutating func refuse(_ query: UInt64, _ code: ProtocolError.Code, _ reason: String) {
        let content = QueryAnswer.Content.failure(ProtocolError(code, reason))
        enqueue(.answer(QueryAnswer(query: query, content: content)), for: .none)
    }

    private mutating func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        actions.append(.log(level, message, metadata))
    }
}

/// Counts the seconds in which a socket brings nothing although something was to come. A TCP connection whose other side is gone
/// may stay open for long: then a new one is made.
struct SilenceCounter {
    private let limit: Int
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes note that something has come.
    mutating func hear() {
        count = 0
    }

    /// - Returns: whether that was once too often; then counting begins anew.
    mutating func miss() -> Bool {
        count += 1
        guard count >= limit else { return false }
        count = 0
        return true
    }
}
