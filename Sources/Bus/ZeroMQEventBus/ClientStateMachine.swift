internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Logging

/// The protocol of the bus client, without sockets, clocks and tasks: a value that handles inputs and returns actions.
///
/// Inputs are the requests of callers, the messages of the two sockets, and the time. Each input has its own type of
/// actions, which ``ZeroMQEventBus`` performs. `docs/wire-protocol.md` describes the protocol.
struct ClientStateMachine: ~Copyable {
    typealias Instant = ContinuousClock.Instant

    /// The life of the client.
    ///
    /// The data of a state are numbers, so an input copies no collection when it changes them. The requests, the
    /// subscriptions and the served queries are beside the state: callers can add them before the bus is open.
    private enum State {
        /// There are no sockets yet.
        case idle
        case open(ClientConnection)
        /// The good-bye is unanswered. The client says nothing new: the broker would treat it as alive.
        case leaving(ClientConnection, bye: UInt64)
        case closed
    }

    private let address: BusAddress
    private let source: String
    private let producer: ProducerID
    /// True for a device on a bus with keys: the feed brings it signals instead of messages.
    private let receivesSignals: Bool

    private var state = State.idle
    private var lastID: UInt64 = 0
    private(set) var outbox: Outbox
    private(set) var journal: KnownJournal
    private var subscriptions: SubscriptionTable
    private var queries = ServedQueries()
    private var leased = LeasedDocuments()

    /// - Parameters:
    ///   - producer: The identity of this bus for the broker.
    ///   - client: The identity in the names of this bus's inboxes on the feed.
    init(
        address: BusAddress, source: String, producer: ProducerID = ProducerID(), client: ProducerID = ProducerID(),
        receivesSignals: Bool = false
    ) {
        self.address = address
        self.source = source
        self.producer = producer
        self.receivesSignals = receivesSignals
        outbox = Outbox(producer: producer)
        journal = KnownJournal(producer: producer)
        subscriptions = SubscriptionTable(client: client)
    }

    /// A new id for a request, a subscription, a reader's wait or a server.
    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Opening and closing

    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// True from ``open(at:)`` to ``close()``, also while the good-bye is unanswered.
    var isOpen: Bool { connection != nil }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// The connection of an open or leaving client; nil in the other states, in which a change has no effect.
    private var connection: ClientConnection? {
        get {
            switch state {
            case .open(let connection), .leaving(let connection, _): connection
            case .idle, .closed: nil
            }
        }
        set {
            guard let newValue else { return }
            switch state {
            case .open: state = .open(newValue)
            case .leaving(_, let bye): state = .leaving(newValue, bye: bye)
            case .idle, .closed: break
            }
        }
    }

    /// Called once, after the sockets have been created.
    /// - Returns: The prefixes to subscribe to on the feed.
    mutating func open(at now: Instant) -> [String] {
        state = .open(ClientConnection(at: now))
        return subscriptions.unconfirmedPrefixes
    }

    /// Says good-bye, and closes when the broker has answered, or after 500 ms. If the bus is not open or the client
    /// does not know a journal yet, it closes at once.
    mutating func leave() -> LeaveAction {
        switch state {
        case .idle: return .close
        case .open:
            var sendings = Sendings()
            let bye = enqueue(.bye(journal.greeting), for: .caller, into: &sendings)
            if let connection { state = .leaving(connection, bye: bye) }
            return .sendBye(sendings, closeAfter: journal.epoch == 0 ? .zero : .milliseconds(500))
        case .leaving, .closed: return .none
        }
    }

    /// Ends everything that waits for the broker. Nil if the client was closed before.
    mutating func close() -> CloseActions? {
        guard !isClosed else { return nil }
        state = .closed
        queries = ServedQueries()
        let (unconfirmed, live) = subscriptions.removeAll()
        return CloseActions(requests: outbox.close(), unconfirmed: unconfirmed, live: live, error: closed)
    }

    private var closed: BusError { BusError(.closed, "the connection to \(address) was closed") }

    // MARK: Requests

    /// Sends a request for a caller.
    /// - Parameter batch: The batch that the request publishes; nil for other requests.
    mutating func ask(_ request: Request, publishing batch: Batch? = nil, id: UInt64) -> AskAction {
        guard !isClosed else { return .fail(closed) }
        var pending = PendingRequest(request: request, purpose: .caller)
        if case .publish(let publish) = request, let batch {
            do {
                pending.leases = try leased.change(by: batch, publish.messages)
            } catch {
                return .fail(BusError(error))
            }
        }
        if case .serve = request { outbox.supersedeServe(with: request) }
        guard let sending = outbox.add(pending, id: id) else { return .wait }
        var sendings = Sendings()
        send(sending, into: &sendings)
        return .send(sendings)
    }

    /// Sends a request whose answer no caller needs.
    mutating func tell(_ request: Request) -> Sendings {
        var sendings = Sendings()
        if !isClosed { enqueue(request, for: .none, into: &sendings) }
        return sendings
    }

    /// Cancels the request of a caller.
    mutating func cancel(_ id: UInt64) -> CancelAction {
        guard let request = outbox.cancel(id) else { return .none }
        var sendings = Sendings()
        // A query that was not sent need not be cancelled at the broker.
        if request.isQuery, request.resending.sentAt != nil { enqueue(.cancel(id), for: .none, into: &sendings) }
        return .fail(sendings)
    }

    @discardableResult
    private mutating func enqueue(
        _ request: Request, for purpose: PendingRequest.Purpose, into sendings: inout Sendings
    ) -> UInt64 {
        let id = nextID()
        send(outbox.add(PendingRequest(request: request, purpose: purpose), id: id), into: &sendings)
        return id
    }

    private mutating func send(_ sending: Outbox.Sending?, into sendings: inout Sendings) {
        guard let sending else { return }
        sendings.requests.append(sending)
        requestWake(into: &sendings)
    }

    private mutating func send(_ all: [Outbox.Sending], into sendings: inout Sendings) {
        for sending in all { send(sending, into: &sendings) }
    }

    private mutating func requestWake(into sendings: inout Sendings) {
        guard connection?.willWake == false else { return }
        connection?.willWake = true
        sendings.wakes = true
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
    mutating func unblock() -> Sendings {
        var sendings = Sendings()
        if isOpen { send(outbox.unblock(), into: &sendings) }
        return sendings
    }

    /// Says hello if an answer is overdue or the journal has grown since the last answer to a hello. An overdue hello
    /// or good-bye is sent again.
    mutating func wake(at now: Instant) -> Sendings {
        var sendings = Sendings()
        connection?.willWake = false
        let greeting: UInt64?
        switch state {
        case .open(let connection): greeting = connection.unansweredHello?.id
        case .leaving(_, let bye): greeting = bye
        case .idle, .closed: return sendings
        }
        if let greeting {
            send(outbox.overdue(greeting, at: now), into: &sendings)
        } else if journal.hasGrown || outbox.hasOverdue(at: now) {
            greet(into: &sendings)
        }
        if outbox.awaitsAnswers { requestWake(into: &sendings) }
        return sendings
    }

    // MARK: Time

    /// Called once a second. Tells the broker that the process is alive, and looks for losses and for connections that
    /// have fallen silent.
    /// - Parameter settled: Returns the offset up to which the reader of a subscription has handled everything, if
    ///   everything up to the second argument has been delivered to it.
    mutating func tick(at now: Instant, settled: (_ subscription: UInt64, _ delivered: UInt64) -> UInt64) -> TickActions
    {
        var actions = TickActions()
        guard isOpen else { return actions }
        var hasLosses = false
        subscriptions.changeAll(into: &actions.endedWaits) { if $0.tick() { hasLosses = true } }
        // A device always finds messages of other sessions in the heads.
        checkSilence(hasLosses: hasLosses && !receivesSignals, at: now, into: &actions)
        for inbox in subscriptions.unconfirmedInboxes {
            // The feed may have dropped the confirmation, so the inbox is subscribed to again.
            actions.feed += [.unsubscribe([inbox]), .subscribe([inbox])]
        }
        if case .open(var connection) = state, connection.beginTick() {
            state = .open(connection)
            greet(pollsHeads: true, into: &actions.sendings)
            renewClaims(into: &actions.sendings)
            recordProgress(settled: settled, into: &actions.sendings)
            if !queries.isEmpty { register(into: &actions.sendings) }
        }
        readPages(into: &actions.sendings)
        return actions
    }

    /// Makes a new connection if the feed has brought nothing for too long although something is due, or the ingress
    /// although an answer is due. IPC needs no new connection of the ingress.
    private mutating func checkSilence(hasLosses: Bool, at now: Instant, into actions: inout TickActions) {
        if connection?.isWarningDue(at: now) == true {
            actions.log.append(
                LogEntry(
                    level: .warning, message: "no broker answers",
                    metadata: ["bus": "\(address)", "waiting": "\(outbox.count)"]))
        }
        let isUnconfirmed = subscriptions.hasUnconfirmed
        if connection?.missFeed(hasLosses: hasLosses, isUnconfirmed: isUnconfirmed) == true {
            actions.log.append(
                LogEntry(level: .warning, message: "the feed is silent; reconnecting", metadata: ["bus": "\(address)"]))
            actions.feed += [.renew(feedPrefixes), .subscribe(subscriptions.unconfirmedPrefixes)]
        }
        if address.directory == nil, outbox.awaitsAnswers, connection?.missIngress() == true {
            actions.log.append(
                LogEntry(
                    level: .warning, message: "the broker does not answer; reconnecting",
                    metadata: ["bus": "\(address)"]))
            actions.renewsIngress = true
            send(outbox.resend(onNewConnection: true), into: &actions.sendings)
        } else {
            send(outbox.unblock(), into: &actions.sendings)
        }
    }

    /// Makes new connections of both sockets, with another key.
    mutating func reconnect() -> TickActions {
        var actions = TickActions()
        guard isOpen else { return actions }
        actions.feed = [.renew(feedPrefixes), .subscribe(subscriptions.unconfirmedPrefixes)]
        actions.renewsIngress = true
        send(outbox.resend(onNewConnection: true), into: &actions.sendings)
        return actions
    }

    // MARK: Replies

    /// Handles a reply from the ingress.
    mutating func receive(_ reply: Reply, to id: UInt64, at now: Instant) -> ReplyActions {
        var actions = ReplyActions()
        connection?.recordIngress(at: now)
        if case .refused(let error) = reply, error.code == .malformed, case .hello(let greeting) = outbox[id],
            greeting.asksForMore
        {
            journal.shortenGreetings()
            send(outbox.replace(id, with: .hello(journal.greeting)), into: &actions.sendings)
        } else {
            switch outbox.receive(reply, to: id, at: now) {
            case .answered(let request): handle(reply, to: request, id: id, at: now, into: &actions)
            case .failed(let error): actions.failures.append((id, error))
            case .none: break
            }
        }
        // While the broker cannot use its journal, each hello would be refused, and so would what is sent again after
        // it.
        if outbox.isOutOfSequence, case .answered = connection?.hello { greet(into: &actions.sendings) }
        send(outbox.admitWaiting(), into: &actions.sendings)
        readPages(into: &actions.sendings)
        return actions
    }

    private mutating func handle(
        _ reply: Reply, to request: PendingRequest, id: UInt64, at now: Instant, into actions: inout ReplyActions
    ) {
        if let leases = request.leases, case .published = reply {
            leased.apply(leases, at: id)
            leased.forgetEnded(before: outbox.firstID ?? .max)
        }
        switch request.purpose {
        case .caller:
            if case .welcome(let welcome) = reply, case .hello(let greeting) = request.request {
                follow(welcome, after: greeting, into: &actions)
            }
            if case .published(let epoch, let offset) = reply { journal.see(offset, of: epoch) }
            actions.answeredID = id
            if case .bye = request.request { actions.closes = true }
        case .greeting: handle(reply, toHello: request, id: id, at: now, into: &actions)
        case .heads(let asking, let judgeNow):
            if case .refused(let error) = reply, error.code == .forbidden {
                // One of the subscriptions has lost its right. The pages show which one.
                for id in asking {
                    subscriptions.change(id, into: &actions.endedWaits) {
                        $0.read(through: journal.lastWelcome?.head ?? journal.lastSeen)
                    }
                }
            }
            guard case .heads(let heads) = reply, heads.epoch == journal.epoch else { break }
            receive(heads, for: asking, judgeNow: judgeNow, into: &actions)
        case .page(let subscription): receive(page: reply, to: id, for: subscription, into: &actions)
        case .renewal(let subscription): receive(renewal: reply, for: subscription, into: &actions)
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

    private mutating func greet(pollsHeads: Bool = false, into sendings: inout Sendings) {
        guard case .open(let connection) = state, connection.unansweredHello == nil else { return }
        let (sequence, count) = (outbox.answeredSequence, leased.count)
        let id = enqueue(.hello(journal.greeting), for: .greeting, into: &sendings)
        self.connection?.hello = .unanswered(
            ClientConnection.Hello(id: id, answeredSequence: sequence, leasedCount: count, pollsHeads: pollsHeads))
    }

    /// Called when the ingress has connected again: the requests that were sent before, or their answers, may be lost.
    mutating func reconnected() -> Sendings {
        var sendings = Sendings()
        greetAnew(into: &sendings)
        return sendings
    }

    /// Says hello, whose answer shows which requests are lost, except queries; these are sent again. The hello comes
    /// first: it tells the broker that the queries are those of an earlier connection.
    private mutating func greetAnew(into sendings: inout Sendings) {
        guard case .open = state else { return }
        greetAgain(into: &sendings)
        send(outbox.sentQueries, into: &sendings)
    }

    /// Says hello with the current state. An unanswered earlier hello is dropped.
    private mutating func greetAgain(into sendings: inout Sendings) {
        if let hello = connection?.unansweredHello {
            outbox.remove(hello.id)
            connection?.hello = .answered
        }
        greet(into: &sendings)
    }

    private mutating func handle(
        _ reply: Reply, toHello request: PendingRequest, id: UInt64, at now: Instant, into actions: inout ReplyActions
    ) {
        guard let hello = connection?.unansweredHello, hello.id == id else { return }
        guard case .welcome(let welcome) = reply, case .hello(let greeting) = request.request else {
            connection?.hello = .refused
            return send(outbox.lost(before: request, recorded: nil), into: &actions.sendings)
        }
        connection?.hello = .answered
        follow(welcome, after: greeting, into: &actions)
        restoreSequence(welcome, answered: hello.answeredSequence, into: &actions)
        send(outbox.lost(before: request, recorded: welcome.sequence), into: &actions.sendings)
        compareLeases(welcome, leased: hello.leasedCount, at: now, into: &actions)
        if hello.pollsHeads { pollHeads(head: welcome.head, judgeNow: false, into: &actions.sendings) }
    }

    /// Follows the journal to another epoch, or to its end if it has lost messages.
    private mutating func follow(_ welcome: Welcome, after greeting: Greeting, into actions: inout ReplyActions) {
        if journal.follow(welcome.epoch) { restart(from: welcome.more?.start ?? 0, into: &actions) }
        if journal.hasLostEnd(welcome, after: greeting) { rewind(to: welcome.head, into: &actions) }
        journal.record(welcome)
    }

    /// Handles another epoch. Subscriptions with a claim end, and those with an end position fail; the others start
    /// again.
    /// - Parameter offset: The offset at which the epoch began; 0 if the broker does not say.
    private mutating func restart(from offset: UInt64, into actions: inout ReplyActions) {
        actions.log.append(
            LogEntry(
                level: .warning, message: "the journal has a new epoch",
                metadata: ["epoch": "\(String(journal.epoch, radix: 16))"]))
        subscriptions.changeAll(into: &actions.endedWaits) { $0.restart(from: offset) }
        connection?.leaseRenewal.doubt()
    }

    /// Goes back to the end of a journal that has lost messages which this client has seen since its last hello.
    private mutating func rewind(to head: UInt64, into actions: inout ReplyActions) {
        actions.log.append(
            LogEntry(
                level: .warning, message: "the journal has lost its last messages; reading the new ones in their place",
                metadata: ["seen": "\(journal.lastSeen)", "end": "\(head)"]))
        journal.rewind(to: head)
        // Their answers could leave out messages after the new end.
        outbox.removeReads()
        subscriptions.changeAll(into: &actions.endedWaits) { $0.rewind(to: head) }
        dropClaims(into: &actions)
        connection?.leaseRenewal.doubt()
    }

    /// Makes durable consumers claim again, because the journal may have lost their recorded progress. The callers of
    /// unanswered batches with a checkpoint get an error.
    private mutating func dropClaims(into actions: inout ReplyActions) {
        subscriptions.changeAll(into: &actions.endedWaits) { if $0.claim != nil { $0.finish() } }
        let error = BusError(.epoch, "the journal may have lost its last messages; claim again")
        for id in outbox.dropCheckpoints() { actions.failures.append((id, error)) }
    }

    /// Sends all unanswered requests again if the broker lacks a batch. If it lacks a batch that it has answered,
    /// durable consumers claim again, and the unanswered batches, except transient ones, get new sequence numbers.
    ///
    /// - Parameter answered: The sequence number of the last batch that had been answered when the hello was created.
    private mutating func restoreSequence(_ welcome: Welcome, answered: UInt64, into actions: inout ReplyActions) {
        if welcome.sequence < answered {
            actions.log.append(
                LogEntry(
                    level: .warning, message: "the broker has forgotten batches that it had acknowledged",
                    metadata: ["answered": "\(outbox.answeredSequence)", "left": "\(welcome.sequence)"]))
            dropClaims(into: &actions)
            outbox.renumber(after: welcome.sequence)
        }
        send(outbox.restoreSequence(), into: &actions.sendings)
    }

    /// Publishes the leased documents again if ``LeaseRenewal`` says so.
    /// - Parameter count: The number of leased documents that the journal had recorded when the hello was created.
    private mutating func compareLeases(
        _ welcome: Welcome, leased count: Int, at now: Instant, into actions: inout ReplyActions
    ) {
        let isMissing = welcome.more.map { $0.leased < min(count, leased.count) } ?? false
        guard connection?.leaseRenewal.isDue(isMissing: isMissing, at: now) == true else { return }
        // Documents that unanswered batches change are left out.
        let batches = leased.batches(except: outbox.changingLeases)
        guard !batches.isEmpty else { return }
        connection?.leaseRenewal.record(at: now)
        actions.log.append(
            LogEntry(
                level: .notice, message: "leased documents are published again", metadata: ["count": "\(leased.count)"])
        )
        for (condition, messages) in batches {
            let request = PublishRequest(
                producer: producer, sequence: 0, isLeased: true, checkpoint: condition, messages: messages)
            enqueue(.publish(request), for: .none, into: &actions.sendings)
        }
    }

    // MARK: Subscriptions

    /// Begins a subscription. It is live, or refused, after ``confirm(inbox:epoch:head:)``.
    mutating func subscribe(_ plan: Subscription.Plan, id: UInt64) -> SubscribeAction {
        isClosed ? .refuse(closed) : .subscribe(subscriptions.add(plan, id: id))
    }

    /// Ends a subscription, whether it is live or not.
    /// - Returns: The prefixes to unsubscribe from on the feed.
    mutating func unsubscribe(_ id: UInt64) -> [String] {
        subscriptions.remove(id)
    }

    /// Dequeues the next buffered messages of a subscription.
    mutating func dequeue(from id: UInt64) -> (messages: [FeedTracker.Delivery], sendings: Sendings) {
        let messages = subscriptions.dequeue(from: id)
        var sendings = Sendings()
        readPages(into: &sendings)
        return (messages, sendings)
    }

    /// Begins a wait of a subscription's reader.
    /// - Parameter number: A number from ``nextID()``.
    mutating func wait(for id: UInt64, number: UInt64) -> WaitActions {
        var actions = WaitActions(result: subscriptions.wait(for: id, number: number))
        readPages(into: &actions.sendings)
        return actions
    }

    /// Cancels a wait of a subscription's reader.
    /// - Returns: True if the reader still waits: it gets a `CancellationError`.
    mutating func stopWaiting(for id: UInt64, number: UInt64) -> Bool {
        subscriptions.stopWaiting(for: id, number: number)
    }

    /// The prefixes that a new connection of the feed subscribes to first. They include the prefix of the client's
    /// inboxes. The broker's answer to it shows that the feed is connected.
    var feedPrefixes: [String] { subscriptions.feedPrefixes }

    /// Handles the broker's answer, on the feed, to the subscription of an inbox.
    /// - Parameter head: The end of the journal when the broker answered.
    mutating func confirm(inbox: String, epoch: UInt64, head: UInt64) -> ConfirmActions {
        var actions = ConfirmActions()
        connection?.recordFeed()
        // The first epoch replaces no other, so no subscription starts again.
        if journal.epoch == 0 { _ = journal.follow(epoch) }
        // The prefix is answered after each connection of the feed: the broker may be a newer one.
        let isConnected = inbox == subscriptions.inboxPrefix
        if isConnected { journal.lengthenGreetings() }
        if epoch != journal.epoch {
            // The answer may be about an earlier or a later journal. The reply to a hello decides.
            if isConnected { greetAgain(into: &actions.sendings) } else { greet(into: &actions.sendings) }
        } else if isConnected {
            // Messages may have been published while the feed was not connected. The broker may be a newer one.
            greetAnew(into: &actions.sendings)
            pollHeads(head: head, judgeNow: true, into: &actions.sendings)
        } else if let (id, plan) = subscriptions.removePlan(inbox: inbox) {
            actions.unsubscribed = [inbox]
            begin(plan, id: id, head: head, into: &actions)
        }
        readPages(into: &actions.sendings)
        return actions
    }

    private mutating func begin(_ plan: Subscription.Plan, id: UInt64, head: UInt64, into actions: inout ConfirmActions)
    {
        if let reason = mistake(in: plan, head: head) {
            actions.unsubscribed += plan.prefixes
            actions.outcome = .refused(subscription: id, BusError(.epoch, reason))
        } else {
            subscriptions.add(live: Subscription(plan, id: id, head: head))
            actions.outcome = .live(subscription: id)
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
    mutating func receive(live messages: [FeedMessage]) -> LiveActions {
        var actions = LiveActions()
        connection?.recordFeed()
        // Messages of another epoch are ignored.
        guard let last = messages.last, last.epoch == journal.epoch else { return actions }
        journal.see(last.offset, of: last.epoch)
        subscriptions.changeAll(into: &actions.endedWaits) { $0.receive(live: messages) }
        readPages(into: &actions.sendings)
        return actions
    }

    /// Handles the signal that the journal has messages up to an offset which the feed does not bring.
    mutating func receive(signal head: UInt64, of epoch: UInt64) -> LiveActions {
        var actions = LiveActions()
        connection?.recordFeed()
        guard epoch == journal.epoch else { return actions }
        journal.see(head, of: epoch)
        subscriptions.changeAll(into: &actions.endedWaits) { $0.read(through: head) }
        readPages(into: &actions.sendings)
        return actions
    }

    /// Requests the last offsets of topics, for the subscriptions that have not requested them since the journal has
    /// grown.
    private mutating func pollHeads(head: UInt64, judgeNow: Bool, into sendings: inout Sendings) {
        guard let (asking, request) = subscriptions.wantedHeads(in: journal.epoch, through: head) else { return }
        enqueue(request, for: .heads(subscriptions: asking, judgeNow: judgeNow), into: &sendings)
    }

    /// Handles the last offsets of topics.
    /// - Parameter asking: The subscriptions for which the request was made. The answer does not contain the topics of
    ///   later subscriptions.
    private mutating func receive(
        _ heads: Heads, for asking: [UInt64], judgeNow: Bool, into actions: inout ReplyActions
    ) {
        for id in asking {
            subscriptions.change(id, into: &actions.endedWaits) {
                $0.record(heads)
                if judgeNow { $0.judge() }
            }
        }
    }

    /// Requests the pages that subscriptions need and have room for.
    private mutating func readPages(into sendings: inout Sendings) {
        for (subscription, request) in subscriptions.wantedPages(in: journal.epoch) {
            let id = enqueue(request, for: .page(subscription: subscription), into: &sendings)
            subscriptions.recordRead(id, by: subscription)
        }
    }

    private mutating func receive(
        page reply: Reply, to request: UInt64, for id: UInt64, into actions: inout ReplyActions
    ) {
        guard subscriptions.isLive(id) else { return }
        switch reply {
        case .page(let page) where page.epoch == journal.epoch:
            for offset in page.damaged {
                actions.log.append(
                    LogEntry(
                        level: .error, message: "a message was skipped: the journal is damaged",
                        metadata: ["offset": "\(offset)"]))
            }
            journal.see(page.through, of: page.epoch)
            var notices: [SubscriptionNotice] = []
            subscriptions.change(id, into: &actions.endedWaits) { notices = $0.receive(page, to: request) }
            if !notices.isEmpty { actions.notices = (id, notices) }
        case .refused(let error) where error.code == .forbidden:
            // The rights have changed since the subscription began.
            subscriptions.change(id, into: &actions.endedWaits) { $0.fail(with: BusError(error)) }
        case .refused(let error):
            // For example, the journal was replaced or cannot be read now.
            subscriptions.change(id, into: &actions.endedWaits) { $0.refuse(request, untilNextTick: true) }
            actions.log.append(
                LogEntry(
                    level: .warning, message: "the broker refused to read a page of the journal",
                    metadata: ["reason": "\(error)"]))
            if error.code == .epoch { greet(into: &actions.sendings) }
        default: subscriptions.change(id, into: &actions.endedWaits) { $0.refuse(request, untilNextTick: false) }
        }
    }

    // MARK: Claims

    /// Tells the broker that the members are alive, and asks if their claims are still valid.
    private mutating func renewClaims(into sendings: inout Sendings) {
        for (subscription, request) in subscriptions.renewClaims(of: producer) {
            enqueue(request, for: .renewal(subscription: subscription), into: &sendings)
        }
    }

    /// Records the progress of members past messages that are not for them.
    private mutating func recordProgress(settled: (UInt64, UInt64) -> UInt64, into sendings: inout Sendings) {
        for checkpoint in subscriptions.progress(in: journal.epoch, settled: settled) {
            let request = PublishRequest(producer: producer, sequence: 0, checkpoint: checkpoint, messages: [])
            enqueue(.publish(request), for: .none, into: &sendings)
        }
    }

    private mutating func receive(renewal reply: Reply, for id: UInt64, into actions: inout ReplyActions) {
        guard subscriptions.isLive(id) else { return }
        if case .refused(let error) = reply {
            actions.log.append(
                LogEntry(level: .warning, message: "a claim could not be renewed", metadata: ["reason": "\(error)"]))
        }
        let claimed: Claimed? = if case .claimed(let claimed) = reply { claimed } else { nil }
        subscriptions.change(id, into: &actions.endedWaits) { $0.renewed(claimed) }
    }

    // MARK: Queries

    /// Adds a server of queries. The caller then sends ``registration``.
    mutating func addServer(_ types: [MessageType], id: UInt64) {
        queries.add(types, as: id)
    }

    /// Removes a server of queries. Its unanswered queries are refused.
    mutating func removeServer(_ id: UInt64) -> RemoveServerActions {
        var actions = RemoveServerActions()
        guard !isClosed, let open = queries.remove(id) else { return actions }
        actions.stopped = open
        for query in open {
            refuse(query, code: .cancelled, reason: "the process stopped serving the query", into: &actions.sendings)
        }
        // Even if the registration failed, the broker may have received it.
        register(into: &actions.sendings)
        return actions
    }

    /// The request that registers all types that this process serves.
    var registration: Request { .serve(ServeRequest(producer: producer, types: queries.types)) }

    /// Registers the served types. Repeated by ``tick(at:settled:)``: a broker that was restarted has forgotten them.
    private mutating func register(into sendings: inout Sendings) {
        outbox.supersedeServe(with: registration)
        enqueue(registration, for: .none, into: &sendings)
    }

    /// Handles a query from the broker, or the cancellation of one.
    mutating func receive(_ notice: Notice, at now: Instant) -> NoticeAction {
        connection?.recordIngress(at: now)
        switch notice {
        case .cancel(let id):
            queries.finish(id)
            return .stopWork(query: id)
        case .query(let id, let message, let origin):
            // The broker sends a query again over a new connection. The answer is on its way.
            if outbox.isAnswering(id) { return .none }
            switch queries.receive(message, id: id, source: source) {
            case .work(let server): return .work(query: id, message, origin, server: server)
            case .refuse(let reason):
                var sendings = Sendings()
                refuse(id, code: .unserved, reason: reason, into: &sendings)
                return .refuse(sendings)
            case .none: return .none
            }
        }
    }

    /// Handles the end of a server's work on a query.
    /// - Parameter content: The answer or an error; `nil` if the asker no longer waits.
    mutating func answer(_ query: UInt64, _ content: QueryAnswer.Content?) -> Sendings {
        var sendings = Sendings()
        guard !isClosed else { return sendings }
        queries.finish(query)
        if let content { send(content, to: query, into: &sendings) }
        return sendings
    }

    private mutating func refuse(
        _ query: UInt64, code: ProtocolError.Code, reason: String, into sendings: inout Sendings
    ) {
        send(.failure(ProtocolError(code, reason)), to: query, into: &sendings)
    }

    private mutating func send(_ content: QueryAnswer.Content, to query: UInt64, into sendings: inout Sendings) {
        enqueue(.answer(QueryAnswer(query: query, content: content)), for: .none, into: &sendings)
    }
}
