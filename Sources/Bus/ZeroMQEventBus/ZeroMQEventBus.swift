internal import BusFormat
internal import BusKeys
internal import BusProtocol
public import EventBus
public import Foundation
public import Logging
internal import Support
internal import SystemSupport
internal import ZeroMQ

extension EventBus {
    /// A bus that uses a broker. It connects in `run()`.
    /// - Parameters:
    ///   - address: `ipc:///DIRECTORY` or `tcp://HOST:PORT`.
    ///   - source: The CloudEvents source of the messages that this process publishes: `name/instance`.
    ///   - isInsecure: True if a network address may be used without a key.
    ///   - variables: `SEGUE_BUS_CURVE` is the path of this process's key file. A bus without keys needs none.
    /// - Throws: `BusError` with code `address` if the address cannot be used, `key` if the key file cannot be used.
    public static func zeroMQ(
        address: String, source: String, isInsecure: Bool = false, logger: Logger,
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> EventBus {
        let keyFile = variables[KeyFilePlace.variable].flatMap { $0.isEmpty ? nil : $0 }
        return EventBus(
            try ZeroMQEventBus(
                address: address, source: source, keyFile: keyFile, isInsecure: isInsecure, logger: logger))
    }
}

/// The engine that uses a broker and two ZeroMQ sockets: DEALER for requests, SUB for the feed.
///
/// The actor runs on the thread that owns the sockets. The protocol is implemented by a ``ClientStateMachine``: the
/// actor passes it the calls, the messages of the sockets and the time, and performs the actions that it returns. See
/// `docs/wire-protocol.md`.
package actor ZeroMQEventBus: EventBusEngine {
    package nonisolated let source: String
    let producer = ProducerID()
    private let address: BusAddress
    private let logger: Logger
    let skipped: SkippedMessages
    private let thread: ExecutorThread
    /// Nil on a bus without keys.
    private var key: ClientKey?
    /// The reason why the last handshake has failed; nil after a reply.
    private var failedHandshake: BusError?
    /// The time since which the key has been refused; nil after a reply.
    private var refusedSince: ContinuousClock.Instant?
    /// True if new connections will be made because a handshake has failed.
    private var willReconnect = false
    /// The broker's refusal of the key, which ends the bus.
    private var denial: BusError?
    /// The number of callers of ``waitUntilConnected(timeout:)``, which report a failed handshake.
    private var greeterCount = 0

    private(set) var machine: ClientStateMachine
    private var ingress: Socket?
    private var ingressWatch: SocketWatch?
    private var ingressMonitor: SocketWatch?
    /// True after the first handshake of the present socket of the ingress.
    private var hasConnected = false
    private var feed: Socket?
    private var feedWatch: SocketWatch?
    /// The continuation of ``run()``, resumed when the bus is closed.
    private var closed: CheckedContinuation<Void, Never>?
    /// The callers that wait for a reply, by the id of the request.
    private var callers: [UInt64: CheckedContinuation<Reply, any Error>] = [:]
    private var readers: [UInt64: Reader] = [:]
    private var servers: [UInt64: AsyncStream<ServedQuery>.Continuation] = [:]
    /// The latches that cancel the work on a query, by the broker's query number.
    private var work: [UInt64: Latch] = [:]

    /// The reader of one subscription.
    private struct Reader {
        let progress: ConsumerProgress?
        let onNotice: (@Sendable (SubscriptionNotice) -> Void)?
        /// The caller that waits for the subscription to become live; nil after that.
        var confirmation: CheckedContinuation<Void, any Error>?
        /// The reader's wait for messages; nil while it does not wait.
        var wait: CheckedContinuation<[FeedTracker.Delivery], any Error>?
    }

    /// A query that a server is to answer.
    private struct ServedQuery {
        /// The broker's query number.
        let id: UInt64
        let message: PublishedMessage
        let origin: VerifiedOrigin?
        /// Opened when the asker no longer waits for the answer.
        let cancellation: Latch
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The thread of the sockets. Tasks that prefer this executor receive messages without a change of threads.
    package nonisolated var taskExecutor: (any SerialExecutor & TaskExecutor)? { thread }

    package init(
        address: String, source: String, keyFile: String? = nil, isInsecure: Bool = false, logger: Logger
    ) throws {
        self.address = try BusAddress(address)
        try self.address.checkProtection(hasKeys: keyFile != nil, isInsecure: isInsecure)
        key = try keyFile.map { path throws(BusError) in try ClientKey(path: path) }
        self.source = source
        self.logger = logger
        machine = ClientStateMachine(
            address: self.address, source: source, producer: producer, receivesSignals: key?.session != nil)
        skipped = SkippedMessages(logger: logger)
        thread = ExecutorThread(name: "bus")
    }

    deinit {
        thread.stop()
    }

    // MARK: Opening and closing

    package func run() async throws {
        guard machine.isIdle else { throw BusError(.closed, "run() was called before; create another bus") }
        try checkDirectory()
        if let warning = address.warning(hasKeys: key != nil) { logger.warning("\(warning)") }
        try connectIngress()
        try connectFeed(subscribing: machine.feedPrefixes)
        subscribeFeed(to: machine.open(at: .now))
        tick()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The cancellation handler may have run and closed the bus before.
                if machine.isClosed { continuation.resume() } else { closed = continuation }
            }
        } onCancel: {
            thread.perform { [weak self] in self?.assumeIsolated { $0.leave() } }
        }
        throw denial ?? CancellationError()
    }

    /// Checks that no other user can serve the bus. The broker may still have to create the directory.
    private func checkDirectory() throws(BusError) {
        guard let directory = address.directory else { return }
        do {
            _ = try PrivateFolder.open(directory)
        } catch {
            throw BusError(.address, "the bus directory cannot be used: \(error)")
        }
    }

    /// Waits until the broker has answered a hello.
    /// - Throws: ``BusError`` with code `unavailable` if it does not answer within `timeout`.
    package func waitUntilConnected(timeout: Duration) async throws {
        greeterCount += 1
        defer { greeterCount -= 1 }
        do {
            try await withTimeLimit(timeout, orThrow: BusError(.unavailable, "no broker answers at \(address)")) {
                try await self.greet()
            }
        } catch let error as BusError where error.code == .unavailable {
            throw failedHandshake ?? error
        }
    }

    private func greet() async throws {
        _ = try await ask(.hello(machine.journal.greeting))
    }

    /// Says good-bye, then closes.
    func leave() {
        switch machine.leave() {
        case .close: close()
        case .sendBye(let sendings, closeAfter: .zero):
            send(sendings)
            close()
        case .sendBye(let sendings, let delay):
            send(sendings)
            thread.perform(after: delay) { [weak self] in self?.assumeIsolated { $0.close() } }
        case .none: break
        }
    }

    private func close() {
        guard let actions = machine.close() else { return }
        thread.removeAllWatches()
        (ingress, ingressWatch, ingressMonitor) = (nil, nil, nil)
        (feed, feedWatch) = (nil, nil)
        let error = denial ?? actions.error
        for id in actions.requests { callers.removeValue(forKey: id)?.resume(throwing: error) }
        for id in actions.unconfirmed { removeConfirmation(of: id)?.resume(throwing: error) }
        for id in actions.live { removeWait(of: id)?.resume(throwing: error) }
        for cancellation in work.values { cancellation.open() }
        for queries in servers.values { queries.finish() }
        (work, servers) = ([:], [:])
        closed?.resume()
        closed = nil
    }

    private func tick() {
        ingressWatch?.wantsWrite = false
        perform(machine.tick(at: .now) { readers[$0]?.progress?.settled(delivered: $1) ?? $1 })
        guard machine.isOpen else { return }
        thread.perform(after: .seconds(1)) { [weak self] in self?.assumeIsolated { $0.tick() } }
    }

    // MARK: Actions

    private func perform(_ actions: ClientStateMachine.TickActions) {
        write(actions.log)
        end(actions.endedWaits)
        for action in actions.feed {
            switch action {
            case .subscribe(let prefixes): subscribeFeed(to: prefixes)
            case .unsubscribe(let prefixes): unsubscribeFeed(from: prefixes)
            case .renew(let prefixes): renewFeed(prefixes)
            }
        }
        if actions.renewsIngress { renewIngress() }
        send(actions.sendings)
    }

    private func perform(_ actions: ClientStateMachine.ReplyActions, for reply: Reply) {
        write(actions.log)
        for (id, error) in actions.failures { callers.removeValue(forKey: id)?.resume(throwing: error) }
        if let id = actions.answeredID { callers.removeValue(forKey: id)?.resume(returning: reply) }
        if let (id, notices) = actions.notices, let tell = readers[id]?.onNotice { notices.forEach(tell) }
        end(actions.endedWaits)
        if actions.closes { close() } else { send(actions.sendings) }
    }

    private func perform(_ actions: ClientStateMachine.ConfirmActions) {
        unsubscribeFeed(from: actions.unsubscribed)
        switch actions.outcome {
        case .live(let id): removeConfirmation(of: id)?.resume()
        case .refused(let id, let error): removeConfirmation(of: id)?.resume(throwing: error)
        case nil: break
        }
        send(actions.sendings)
    }

    private func perform(_ actions: ClientStateMachine.LiveActions) {
        end(actions.endedWaits)
        send(actions.sendings)
    }

    private func perform(_ action: ClientStateMachine.NoticeAction) {
        switch action {
        case .work(let id, let message, let origin, let server): give(id, message, origin, to: server)
        case .stopWork(let id): stopWork(on: id)
        case .refuse(let sendings): send(sendings)
        case .none: break
        }
    }

    private func send(_ sendings: ClientStateMachine.Sendings) {
        for sending in sendings.requests { send(sending.request, id: sending.id) }
        guard sendings.wakes else { return }
        thread.perform(after: Resending.shortestWait) { [weak self] in
            self?.assumeIsolated { $0.send($0.machine.wake(at: .now)) }
        }
    }

    private func end(_ waits: [SubscriptionTable.EndedWait]) {
        for wait in waits { endWait(of: wait.subscription, with: wait.result) }
    }

    private func endWait(of subscription: UInt64, with result: Subscription.HandOver) {
        let wait = removeWait(of: subscription)
        switch result {
        case .messages(let messages): wait?.resume(returning: messages)
        case .failure(let error): wait?.resume(throwing: error)
        }
    }

    private func write(_ log: [ClientStateMachine.LogEntry]) {
        for entry in log { logger.log(level: entry.level, entry.message, metadata: entry.metadata) }
    }

    // MARK: Sockets

    private var options: [SocketOption] {
        [
            .linger(500), .reconnectInterval(50), .maximumReconnectInterval(1000),
            .maximumFrameSize(Int64(Limits.maximumFrameSize)),
        ] + SocketOption.tcpKeepalive + (key?.options ?? [])
    }

    /// The number of messages from the feed at which ``receiveMessages()`` ends, so that the thread can do other work.
    private static let turnCount = 512

    private func connectIngress() throws {
        let ingress = try Socket(.dealer, options: options)
        let events = try SocketMonitor()
        try events.receiveEvents(of: ingress)
        let monitor = events.watch { [weak self] event in
            self?.assumeIsolated { $0.handle(event) }
        }
        try ingress.connect(address.ingress)
        let watch = SocketWatch(ingress) { [weak self] in
            self?.assumeIsolated { $0.receiveReplies() }
        } onWritable: { [weak self] in
            self?.assumeIsolated { $0.sendOn() }
        }
        thread.add(monitor)
        thread.add(watch)
        (self.ingress, ingressWatch, ingressMonitor) = (ingress, watch, monitor)
        hasConnected = false
    }

    private func connectFeed(subscribing prefixes: [String]) throws {
        // A SUB socket silently drops subscriptions beyond its send limit (libzmq #2942).
        let feed = try Socket(.sub, options: options + [.sendHighWaterMark(0), .receiveHighWaterMark(4096)])
        for prefix in feedTopics(prefixes) { try feed.set(.subscribe(prefix)) }
        if let session = key?.session { try feed.set(.subscribe(SessionSignal.topic(of: session))) }
        try feed.connect(address.feed)
        let watch = SocketWatch(feed) { [weak self] in self?.assumeIsolated { $0.receiveMessages() } }
        thread.add(watch)
        (self.feed, feedWatch) = (feed, watch)
    }

    private func renewFeed(_ prefixes: [String]) {
        feedWatch.map(thread.remove)
        (feed, feedWatch) = (nil, nil)
        do { try connectFeed(subscribing: prefixes) } catch { logCreationFailure(error) }
    }

    private func renewIngress() {
        ingressWatch.map(thread.remove)
        ingressMonitor.map(thread.remove)
        do {
            // The old socket drops the requests that it has not sent. All unanswered requests are sent again on the new
            // socket.
            try ingress?.set(.linger(0))
            (ingress, ingressWatch, ingressMonitor) = (nil, nil, nil)
            try connectIngress()
        } catch {
            logCreationFailure(error)
        }
    }

    /// The time in which a new key is refused without an end of the bus: the broker may not have read it yet.
    private static let refusalPatience: Duration = .seconds(2)

    /// Handles an event of the ingress's connection. After a failed handshake libzmq does not connect again.
    private func handle(_ event: SocketMonitor.Event) {
        switch event {
        case .keyRefused:
            let owner = key?.name ?? "a process without a key"
            let error = BusError(
                .denied, "the broker at \(address) does not accept \(owner): it is unknown, revoked or expired")
            let since = refusedSince ?? .now
            (failedHandshake, refusedSince) = (error, since)
            if .now - since > Self.refusalPatience { return handleDenial(error) }
        case .mechanismRefused:
            // The broker may also have been killed during the handshake, so the bus never ends.
            let reason =
                key.map { "has no keys, or another key than \($0.path) says" }
                ?? "has keys; set SEGUE_BUS_CURVE to the path of a key file"
            let error = BusError(.denied, "the broker at \(address) \(reason)")
            if failedHandshake == nil, greeterCount == 0 { logger.warning("\(error)") }
            failedHandshake = error
        case .connected:
            // A new socket sends everything again anyway.
            if hasConnected { send(machine.reconnected()) }
            hasConnected = true
            return
        case .accepted, .disconnected: return
        }
        // A socket can have several failed handshakes before it is replaced.
        guard !willReconnect else { return }
        willReconnect = true
        thread.perform(after: .milliseconds(200)) { [weak self] in
            self?.assumeIsolated { bus in
                bus.willReconnect = false
                _ = bus.key?.refresh()
                bus.perform(bus.machine.reconnect())
            }
        }
    }

    /// Handles the broker's refusal of the key. If the key file has another key now, all unanswered requests are sent
    /// again with that one. Otherwise the bus ends.
    private func handleDenial(_ error: BusError) {
        guard denial == nil else { return }
        if key?.refresh() == true {
            logger.notice("the key file has a new key; reconnecting", metadata: ["bus": "\(address)"])
            perform(machine.reconnect())
        } else {
            denial = error
            close()
        }
    }

    private func logCreationFailure(_ error: any Error) {
        logger.error("a socket could not be created", metadata: ["error": "\(error)"])
    }

    private func subscribeFeed(to prefixes: [String]) {
        setOnFeed(feedTopics(prefixes).map(SocketOption.subscribe))
    }

    private func unsubscribeFeed(from prefixes: [String]) {
        setOnFeed(feedTopics(prefixes).map(SocketOption.unsubscribe))
    }

    /// The topics to subscribe to for these prefixes. A device receives no messages on the feed, only signals and the
    /// answers on its inboxes.
    private func feedTopics(_ prefixes: [String]) -> [String] {
        key?.session == nil ? prefixes : prefixes.filter { $0.begins(with: Inbox.mark) }
    }

    private func setOnFeed(_ options: [SocketOption]) {
        do {
            for option in options { try feed?.set(option) }
        } catch {
            logger.error("the subscriptions of the feed could not be changed", metadata: ["error": "\(error)"])
        }
    }

    private func send(_ request: Request, id: UInt64) {
        guard let ingress, let ingressWatch, !ingressWatch.wantsWrite else { return machine.block() }
        do {
            if try ingress.send(request.frames(id: id)) {
                machine.recordSent(id, at: .now)
            } else {
                ingressWatch.wantsWrite = true
                machine.block()
            }
        } catch {
            logger.error("a request could not be sent", metadata: ["error": "\(error)"])
        }
    }

    private func sendOn() {
        ingressWatch?.wantsWrite = false
        send(machine.unblock())
    }

    private func receiveReplies() {
        do {
            while let frames = try ingress?.receive() {
                if let notice = try Notice(frames) {
                    perform(machine.receive(notice, at: .now))
                } else {
                    let (id, reply) = try Reply.read(frames)
                    if case .refused(let error) = reply, error.code == .denied {
                        handleDenial(BusError(error))
                        continue
                    }
                    (failedHandshake, refusedSince) = (nil, nil)
                    perform(machine.receive(reply, to: id, at: .now), for: reply)
                }
            }
        } catch {
            logger.error("a reply of the broker cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func receiveMessages() {
        do {
            var count = 0
            while count < Self.turnCount, let frames = try feed?.receive(), let topic = frames.first {
                if topic.starts(with: Inbox.mark.utf8) {
                    count += 1
                    let (inbox, epoch, head) = try Inbox.readAnswer(frames)
                    if SessionSignal.isTopic(topic) {
                        perform(machine.receive(signal: head, of: epoch))
                    } else {
                        perform(machine.confirm(inbox: inbox, epoch: epoch, head: head))
                    }
                } else {
                    let messages = try FeedPacket.messages(frames)
                    count += messages.count
                    perform(machine.receive(live: messages))
                }
            }
        } catch {
            logger.error("a message of the feed cannot be read", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Requests

    /// Sends a request and waits for the answer, however long the broker is away.
    /// - Parameters:
    ///   - batch: The batch that the request publishes; nil for other requests.
    ///   - timeout: The time after which the request is cancelled with the code `deadline`; `nil` for no limit.
    /// - Throws: ``BusError`` if the broker refuses the request, the time has passed or the bus is closed;
    ///   `CancellationError`.
    func ask(_ request: Request, publishing batch: Batch? = nil, timeout: Duration? = nil) async throws -> Reply {
        let reply = try await reply(to: request, publishing: batch, timeout: timeout)
        if case .refused(let error) = reply { throw BusError(error) }
        return reply
    }

    /// Sends a request for which one refusal is not an error, such as that of an older broker, which does not know the
    /// operation.
    /// - Returns: Nil if the broker refuses the request with the code.
    func ask(_ request: Request, unlessRefusedWith code: ProtocolError.Code) async throws -> Reply? {
        let reply = try await reply(to: request)
        guard case .refused(let error) = reply else { return reply }
        if error.code == code { return nil }
        throw BusError(error)
    }

    /// Sends a request and waits for the reply, which may be a refusal.
    private func reply(
        to request: Request, publishing batch: Batch? = nil, timeout: Duration? = nil
    ) async throws -> Reply {
        try Task.checkCancellation()
        let id = machine.nextID()
        if let timeout {
            thread.perform(after: timeout) { [weak self] in
                let error = BusError(.deadline, "no answer came within \(timeout)")
                self?.assumeIsolated { $0.cancel(id, throwing: error) }
            }
        }
        return try await suspend { continuation in
            switch machine.ask(request, publishing: batch, id: id) {
            case .fail(let error): return continuation.resume(throwing: error)
            case .send(let sendings):
                callers[id] = continuation
                send(sendings)
            case .wait: callers[id] = continuation
            }
        } onCancel: {
            $0.cancel(id, throwing: CancellationError())
        }
    }

    /// Sends a request whose answer is not needed.
    func tell(_ request: Request) {
        send(machine.tell(request))
    }

    private func cancel(_ id: UInt64, throwing error: any Error) {
        guard case .fail(let sendings) = machine.cancel(id) else { return }
        callers.removeValue(forKey: id)?.resume(throwing: error)
        send(sendings)
    }

    /// Suspends until the continuation that `body` receives is resumed.
    /// - Parameter onCancel: Resumes the continuation when the task is cancelled. Called on the actor, and never before
    ///   `body`. If the task was cancelled already, `body` is not called.
    private func suspend<Result: Sendable>(
        _ body: (CheckedContinuation<Result, any Error>) -> Void,
        onCancel: @escaping @Sendable (isolated ZeroMQEventBus) -> Void
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // This captures the actor, so that the closure runs on it.
                self.preconditionIsolated()
                // If the task was cancelled already, `onCancel` finds no continuation to resume.
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

    // MARK: Subscriptions

    package nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let plan = Subscription.Plan(
            prefixes: filters.topicPrefixes, start: try await trackerStart(start), end: end,
            isWatched: onNotice != nil)
        let id = try await subscribe(plan, onNotice: onNotice)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { [skipped] message in
                // A message with an unreadable header is skipped, because its subject is unknown.
                if let header = message.unreadableHeader { skipped.record(header.reason) }
                return message.unreadableHeader == nil && filters.contains { $0.matches(message) }
            })
    }

    package nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let start = claim.offsets.isEmpty ? FeedTracker.Start.now : .after(claim.position)
        let plan = Subscription.Plan(prefixes: filters.topicPrefixes, start: start, claim: claim)
        let id = try await subscribe(plan, progress: progress)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { message in
                // A message with an unreadable header is delivered to the owner of its partition.
                claim.covers(message)
                    && (message.unreadableHeader != nil || filters.contains { $0.matches(message) })
            })
    }

    private nonisolated func messages(
        of id: UInt64, where isWanted: @escaping @Sendable (Envelope) -> Bool
    ) -> MessageSequence {
        let reader = MessageReader(bus: self, id: id, skipped: skipped, isWanted: isWanted)
        return MessageSequence(pull: reader.next)
    }

    /// The start of a tracker. A time is converted to an offset first; messages that are published meanwhile come after
    /// that offset.
    private func trackerStart(_ start: StartPosition) async throws -> FeedTracker.Start {
        switch start {
        case .now: return .now
        case .beginning: return .after(Position(epoch: 0, offset: 0))
        case .retained: return .documents
        case .after(let position): return .after(position)
        case .since(let date):
            // Rounded down: a later time would leave out messages of the same millisecond.
            let milliseconds = UInt64(clamping: date.milliseconds(.down))
            guard case .located(let epoch, let offset) = try await ask(.locate(milliseconds)) else {
                throw BusError(.refused, "the broker sent an unexpected reply to the look-up of a time")
            }
            return .after(Position(epoch: epoch, offset: offset))
        }
    }

    /// Begins a subscription and waits until it is live.
    /// - Returns: The id of the subscription.
    private func subscribe(
        _ plan: Subscription.Plan, progress: ConsumerProgress? = nil,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)? = nil
    ) async throws -> UInt64 {
        try Task.checkCancellation()
        if key != nil { try await checkRights(to: plan.prefixes) }
        let id = machine.nextID()
        readers[id] = Reader(progress: progress, onNotice: onNotice)
        do {
            try await suspend { (continuation: CheckedContinuation<Void, any Error>) in
                switch machine.subscribe(plan, id: id) {
                case .subscribe(let prefixes):
                    readers[id]?.confirmation = continuation
                    subscribeFeed(to: prefixes)
                case .refuse(let error): continuation.resume(throwing: error)
                }
            } onCancel: {
                $0.cancelSubscription(id)
            }
            return id
        } catch {
            readers[id] = nil
            throw error
        }
    }

    /// Asks the broker if this process may read topics. The feed itself does not answer: it closes the connection of a
    /// process that subscribes to what it may not read.
    /// - Throws: ``BusError`` with code `forbidden`.
    private func checkRights(to prefixes: [String]) async throws {
        // The broker looks at the rights first. No journal has this offset, so there is nothing to search for.
        let request = PageRequest(epoch: 0, after: Position.greatestOffset, prefixes: prefixes)
        _ = try await ask(.heads(request), unlessRefusedWith: .epoch)
    }

    private func cancelSubscription(_ id: UInt64) {
        guard let confirmation = removeConfirmation(of: id) else { return }
        unsubscribeFeed(from: machine.unsubscribe(id))
        confirmation.resume(throwing: CancellationError())
    }

    private func unsubscribe(_ id: UInt64) {
        unsubscribeFeed(from: machine.unsubscribe(id))
        removeWait(of: id)?.resume(throwing: BusError(.closed, "the subscription has ended"))
        readers[id] = nil
    }

    private func removeConfirmation(of id: UInt64) -> CheckedContinuation<Void, any Error>? {
        defer { readers[id]?.confirmation = nil }
        return readers[id]?.confirmation
    }

    /// The next messages of a subscription; an empty array at the end.
    func next(_ id: UInt64) async throws -> [FeedTracker.Delivery] {
        let (messages, sendings) = machine.dequeue(from: id)
        send(sendings)
        if !messages.isEmpty { return messages }
        guard readers[id] != nil else { throw BusError(.closed, "the subscription has ended") }
        let number = machine.nextID()
        return try await suspend { continuation in
            readers[id]?.wait = continuation
            let actions = machine.wait(for: id, number: number)
            if let result = actions.result { endWait(of: id, with: result) }
            send(actions.sendings)
        } onCancel: {
            guard $0.machine.stopWaiting(for: id, number: number) else { return }
            $0.removeWait(of: id)?.resume(throwing: CancellationError())
        }
    }

    private func removeWait(of id: UInt64) -> CheckedContinuation<[FeedTracker.Delivery], any Error>? {
        defer { readers[id]?.wait = nil }
        return readers[id]?.wait
    }

    // MARK: Serving queries

    package nonisolated func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        let (queries, continuation) = AsyncStream.makeStream(of: ServedQuery.self)
        let server = try await addServer(types, continuation)
        whenServing()
        try await withThrowingDiscardingTaskGroup { group in
            // Stops serving before the group waits for running answers, so that the broker gives this process no more
            // queries.
            defer { thread.perform { [weak self] in self?.assumeIsolated { $0.removeServer(server) } } }
            for await query in queries {
                group.addTask { await self.work(on: query, answer) }
            }
            try Task.checkCancellation()
            throw BusError(.closed, "the connection to \(address) was closed")
        }
    }

    private func addServer(
        _ types: [MessageType], _ queries: AsyncStream<ServedQuery>.Continuation
    ) async throws -> UInt64 {
        let id = machine.nextID()
        servers[id] = queries
        machine.addServer(types, id: id)
        do {
            _ = try await ask(machine.registration)
        } catch {
            removeServer(id)
            throw error
        }
        return id
    }

    private func removeServer(_ id: UInt64) {
        let actions = machine.removeServer(id)
        for query in actions.stopped { stopWork(on: query) }
        send(actions.sendings)
        servers.removeValue(forKey: id)?.finish()
    }

    private func give(_ id: UInt64, _ message: PublishedMessage, _ origin: VerifiedOrigin?, to server: UInt64) {
        let cancellation = Latch()
        work[id] = cancellation
        servers[server]?.yield(ServedQuery(id: id, message: message, origin: origin, cancellation: cancellation))
    }

    private nonisolated func work(
        on query: ServedQuery, _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async {
        let content = await withTaskGroup(of: QueryAnswer.Content?.self) { group in
            group.addTask {
                do {
                    return try await .message(answer(query.message.envelope(query.origin)))
                } catch {
                    return .failure(ProtocolError(.cancelled, "the process that serves the query could not answer"))
                }
            }
            group.addTask {
                await query.cancellation.waitUntilOpenOrCancelled()
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        await finish(query.id, content)
    }

    private func finish(_ query: UInt64, _ content: QueryAnswer.Content?) {
        stopWork(on: query)
        send(machine.answer(query, content))
    }

    private func stopWork(on query: UInt64) {
        work.removeValue(forKey: query)?.open()
    }
}

extension QueryAnswer.Content {
    fileprivate static func message(_ envelope: Envelope) throws -> Self {
        let message = try PublishedMessage(checking: envelope)
        return .message(header: message.header, data: message.data)
    }
}
