internal import Support
internal import Synchronization
internal import SystemSupport

/// A connection to one of several NATS servers, which connects again whenever it is lost.
///
/// It exists while ``run()`` runs. Requests that are under way when the connection is lost fail with `disconnected`;
/// subscriptions continue after the reconnection, without the messages of the time between.
package final class NATSConnection: Sendable {
    private struct State {
        var phase = NATSState.connecting
        /// The link to the server; nil without a connection.
        var link: NATSLink?
        var maximumPayload = 0
        var connectionCount = 0
        var hasBegun = false
        var listeners: [Int: AsyncStream<NATSState>.Continuation] = [:]
        var subscriptions: [Int: NATSSubscription] = [:]
        /// The last id of a listener or a subscription, from 1.
        var lastID = 0
        /// The bytes that wait for the thread. Each message or subscription also counts ``messageOverhead``.
        var queuedBytes = 0
    }

    private static let inboxID = 0
    private static let acknowledgementsID = -1
    /// The maximum number of bytes that wait to be sent.
    private static let queueLimit = 64 << 20
    /// The bytes that each waiting message or subscription counts, beside the body.
    private static let messageOverhead = 1024
    /// The time for which servers may refuse a user: an operator reloads one after another.
    private static let refusalPatience = Duration.seconds(10)
    /// The time between two attempts to connect, in milliseconds. Many clients should not come at once.
    private static let retryDelay = 250...350

    package let options: NATSOptions
    /// Random characters that no other connection has.
    let name: String
    /// The replies to requests.
    let inbox: ReplyInbox
    /// The acknowledgements of published messages. libnats does not report which of these requests has no responder, so
    /// all of them fail then, and are repeated.
    private let acknowledgements: ReplyInbox
    /// What consumers of JetStream deliver, each to a subscription of its own.
    let deliveries: ReplyInbox
    let incompleteReplicas = IncompleteReplicas()
    /// What waits for the servers.
    package let waits = Waits()
    /// Reads and writes the socket, and runs the tasks that prefer it.
    private let thread: ExecutorThread
    /// Makes the calls of libnats that may wait for a server. With TLS, these are all calls.
    private let calls = NATSThread()
    /// The numbers of the links that were lost.
    private let losses: AsyncStream<Int>
    private let lossesWriter: AsyncStream<Int>.Continuation
    private let state = Mutex(State())

    package init(_ options: NATSOptions) {
        self.options = options
        thread = ExecutorThread(name: "nats")
        executor = TaskThread(thread)
        name = String((0..<16).compactMap { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() })
        inbox = ReplyInbox(prefix: "_INBOX.\(name)", thread)
        acknowledgements = ReplyInbox(prefix: "_INBOX.\(name).a", thread)
        deliveries = ReplyInbox(prefix: "_INBOX.\(name).d", thread)
        (losses, lossesWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
    }

    deinit {
        thread.stop()
        calls.stop()
    }

    /// The executor of the thread that, without TLS, reads and writes. A task that prefers it sends and receives
    /// without a change of threads then.
    package let executor: any SerialExecutor & TaskExecutor

    /// Keeps a connection until the task is cancelled. May be called once. If it is cancelled while connecting, it
    /// returns after at most 2 s for each server; with TLS and a server that has stopped reading, after at most 10 s.
    package func run() async throws {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { throw NATSError(.closed, "run() of a connection to NATS was called twice") }
        await withTaskCancellationHandler {
            await keepLink()
        } onCancel: {
            // Whatever waits ends now, although the end of the link may take longer.
            end()
        }
    }

    /// Opens a link, and another one whenever it is lost.
    private func keepLink() async {
        var number = 0
        while !Task.isCancelled {
            number += 1
            let link = NATSLink(number, thread, usesTLS: options.usesTLS, owner: self)
            let result = await calls.call {
                do throws(NATSError) {
                    return Result<Int, NATSError>.success(try link.open(self.options))
                } catch { return .failure(error) }
            }
            switch result {
            case .failure(let error):
                handleDisconnection(
                    error.code == .unauthenticated ? .refused(error.message) : .disconnected(error.message))
            case .success(let maximumPayload):
                await keep(link, maximumPayload: maximumPayload)
                let remains = await call { link.end() }
                if let remains { await calls.call { NATSLink.close(remains) } }
            }
            // Ends early if the task is cancelled.
            try? await Task.sleep(for: .milliseconds(Int.random(in: Self.retryDelay)))
        }
    }

    /// Uses a link until it is lost, or the task is cancelled.
    private func keep(_ link: NATSLink, maximumPayload: Int) async {
        await call {
            link.begin()
            self.use(link, maximumPayload)
        }
        await withTaskGroup { group in
            group.addTask { await self.identifyServer() }
            for await number in losses where number == link.number { break }
            group.cancelAll()
        }
    }

    /// Subscribes, and opens the way for messages. Runs on the thread of the links.
    private func use(_ link: NATSLink, _ maximumPayload: Int) {
        do throws(NATSError) {
            try link.subscribe(to: inbox.pattern, id: Self.inboxID, .delivered) { [inbox] pointer in
                if let pointer { inbox.receive(pointer) }
            }
            let acknowledgements = acknowledgements
            try link.subscribe(to: acknowledgements.pattern, id: Self.acknowledgementsID, .acknowledgements) {
                pointer in
                guard let pointer else { return acknowledgements.failUnanswered() }
                acknowledgements.receive(pointer)
            }
        } catch {
            handleDisconnection(.disconnected(error.message))
            return linkClosed(link, error.message)
        }
        let subscriptions = state.withLock { state -> [Int: NATSSubscription] in
            guard state.phase != .closed else { return [:] }
            state.link = link
            state.maximumPayload = maximumPayload
            state.connectionCount += 1
            return state.subscriptions
        }
        for (id, subscription) in subscriptions { subscribe(subscription, id) }
    }

    /// Asks the server for its version, and reports the connection. A user without the right to ask is connected
    /// without a version.
    private func identifyServer() async {
        let (count, size) = state.withLock { ($0.connectionCount, $0.maximumPayload) }
        var info = NATSServerInfo(maximumPayload: size)
        var isAnswered = false
        while !isAnswered {
            do {
                info.read(try await request("$SYS.REQ.USER.INFO", timeout: .seconds(2)).body)
                isAnswered = true
            } catch let error as NATSError where [.denied, .noResponders].contains(error.code) {
                isAnswered = true
            } catch let error as NATSError where error.code == .timeout {
                // The server is stopped, or very slow.
            } catch {
                return
            }
        }
        change { state in
            guard state.link != nil, state.connectionCount == count else { return nil }
            return .connected(info)
        }
    }

    private func end() {
        change { state in
            state.link = nil
            return .closed
        }
        let (listeners, subscriptions) = state.withLock { state in
            defer { (state.listeners, state.subscriptions) = ([:], [:]) }
            return (state.listeners.values, state.subscriptions.values)
        }
        for listener in listeners { listener.finish() }
        for subscription in subscriptions { subscription.finish(throwing: NATSError.closed) }
        for inbox in [inbox, acknowledgements, deliveries] { inbox.failAll { _ in NATSError.closed } }
    }

    // MARK: State

    package var current: NATSState { state.withLock(\.phase) }

    /// False if the server is known not to be in a cluster.
    package var isClustered: Bool {
        if case .connected(let info) = current { info.isClustered != false } else { true }
    }

    /// The number of times that a connection was made. If it has grown, messages may have been lost, and consumers of
    /// JetStream must be made again.
    package var connectionCount: Int { state.withLock(\.connectionCount) }

    /// The state now and its changes. Ends when `run()` ends. A slow reader misses old changes.
    package func changes() -> AsyncStream<NATSState> {
        let (stream, writer) = AsyncStream.makeStream(of: NATSState.self, bufferingPolicy: .bufferingNewest(16))
        let id = state.withLock { state -> Int in
            state.lastID += 1
            writer.yield(state.phase)
            if state.phase == .closed { writer.finish() } else { state.listeners[state.lastID] = writer }
            return state.lastID
        }
        writer.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Waits until there is a connection.
    /// - Throws: ``NATSError`` `disconnected` with the last reason after `timeout`, `closed`, or `CancellationError`.
    @discardableResult
    package func waitUntilConnected(timeout: Duration) async throws -> NATSServerInfo {
        try await withTimeLimit(timeout, orThrow: silence(of: timeout)) {
            for await state in self.changes() {
                if case .connected(let info) = state { return info }
            }
            try Task.checkCancellation()
            throw NATSError.closed
        }
    }

    /// Ends with the connection, or when the servers have refused the user for ``refusalPatience``.
    /// - Throws: ``NATSError`` `unauthenticated`; `CancellationError`.
    package func watchRefusals() async throws {
        for await state in changes() {
            guard case .refused = state else { continue }
            do {
                try await waitUntilConnected(timeout: Self.refusalPatience)
            } catch let error as NATSError where error.code == .disconnected {
                guard case .refused(let reason) = current else { continue }
                throw NATSError.unauthenticated(at: options.addresses, reason)
            } catch is NATSError {
                return
            }
        }
    }

    private func silence(of time: Duration) -> NATSError {
        let reason =
            switch current {
            case .disconnected(let reason), .refused(let reason): ": \(reason)"
            case .connecting, .connected, .closed: ""
            }
        return NATSError(.disconnected, "no NATS server answers at \(options.addresses) within \(time)\(reason)")
    }

    /// Changes the state, and informs the listeners while the lock is held, so that all see the same order.
    private func change(_ update: (inout State) -> NATSState?) {
        state.withLock { state in
            guard let phase = update(&state), phase != state.phase else { return }
            state.phase = phase
            for listener in state.listeners.values { listener.yield(phase) }
        }
    }

    private func handleDisconnection(_ phase: NATSState) {
        change { state in
            state.link = nil
            // libnats reports the end of its connection after `run()` may have ended.
            return state.phase == .closed ? nil : phase
        }
        for inbox in [inbox, acknowledgements, deliveries] { inbox.failAll { NATSError.disconnected($0) } }
    }

    // MARK: Threads

    /// Runs `work` on the thread that uses the links, after all work that is queued for this thread.
    /// - Parameter size: The bytes of the message that `work` sends.
    private func perform(size: Int = 0, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.queuedBytes += size + Self.messageOverhead }
        let counted: @Sendable () -> Void = {
            work()
            self.state.withLock { $0.queuedBytes -= size + Self.messageOverhead }
        }
        if options.usesTLS { calls.perform(counted) } else { thread.perform(counted) }
    }

    private func call<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await options.usesTLS ? calls.call(work) : thread.call(work)
    }

    // MARK: Messages

    /// Sends a message without an acknowledgement. Returns when the message is queued: it is lost if the connection is
    /// lost or the user may not publish it.
    /// - Throws: ``NATSError`` `disconnected`, `closed`, `congested`, `tooLarge` or `invalid`.
    package func publish(
        _ subject: String, reply: String? = nil, headers: NATSHeaders = [:], body: [UInt8] = []
    ) throws {
        try send(OutgoingMessage(subject, reply: reply, headers: headers, body: body)) { _ in }
    }

    /// Sends a request and waits for its reply.
    /// - Throws: ``NATSError`` `noResponders`, `timeout`, `disconnected`, `closed`, `denied`, `congested`, `tooLarge`
    ///   or `invalid`; `CancellationError`. After `timeout`, `disconnected` and cancellation the request may have been
    ///   executed.
    package func request(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8] = [], timeout: Duration,
        accepting accepts: (@Sendable (NATSMessage) -> Bool)? = nil
    ) async throws -> NATSMessage {
        let token = inbox.makeToken()
        let message = try OutgoingMessage(subject, reply: inbox.reply(token), headers: headers, body: body)
        return try await reply(to: message, token, in: inbox, timeout: timeout, accepting: accepts)
    }

    /// Sends a message that is stored once if it is sent twice, and calls `complete` with the acknowledgement, without
    /// a task.
    /// - Parameter complete: Called once, with the reply or with an error of ``request(_:headers:body:timeout:)``, also
    ///   with `noResponders` if another one of these messages has no responder. It must not wait: the thread that reads
    ///   or the caller's thread calls it.
    package func publish(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8] = [], timeout: Duration,
        completion complete: @escaping @Sendable (Result<NATSMessage, any Error>) -> Void
    ) {
        let token = acknowledgements.makeToken()
        let message: OutgoingMessage
        do {
            message = try OutgoingMessage(subject, reply: acknowledgements.reply(token), headers: headers, body: body)
        } catch {
            return complete(.failure(error))
        }
        send(message, for: token, in: acknowledgements, timeout: timeout, complete)
    }

    /// The number of requests and consumers that wait for replies.
    package var pendingReplyCount: Int { inbox.count + acknowledgements.count + deliveries.count }

    /// Sends a message to the server and waits for it to come back. Then the server has processed all that was sent
    /// before, such as subscriptions, and what subscriptions were sent before has arrived.
    package func roundTrip(timeout: Duration = .seconds(5)) async throws {
        let token = acknowledgements.makeToken()
        // The reply subject is not used; the message itself is the reply.
        let subject = acknowledgements.reply(token)
        let message = try OutgoingMessage(subject, reply: nil, headers: [:], body: [])
        _ = try await reply(to: message, token, in: acknowledgements, timeout: timeout)
    }

    /// Sends a message and waits for the reply with its token.
    private func reply(
        to message: OutgoingMessage, _ token: UInt64, in inbox: ReplyInbox, timeout: Duration,
        accepting accepts: ReplyInbox.Filter? = nil
    ) async throws -> NATSMessage {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                send(message, for: token, in: inbox, timeout: timeout, accepting: accepts) {
                    continuation.resume(with: $0)
                }
                // The cancellation handler may have run before the entry was there.
                if Task.isCancelled { inbox.fail(token, CancellationError()) }
            }
        } onCancel: {
            inbox.fail(token, CancellationError())
        }
    }

    /// Sends a message and calls `complete` with the reply with its token, or with an error.
    private func send(
        _ message: OutgoingMessage, for token: UInt64, in inbox: ReplyInbox, timeout: Duration,
        accepting accepts: ReplyInbox.Filter? = nil, _ complete: @escaping ReplyInbox.Completion
    ) {
        inbox.add(token, subject: message.subject, timeout: timeout, accepting: accepts, complete)
        send(message, for: token, in: inbox)
    }

    /// Sends a request that has any number of replies to `mailbox`, which must be registered as `token`.
    func sendRequest(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8], to token: UInt64, in inbox: ReplyInbox
    ) throws {
        let message = try OutgoingMessage(subject, reply: inbox.reply(token), headers: headers, body: body)
        send(message, for: token, in: inbox)
    }

    /// Receives any number of replies to requests with a token while `body` runs.
    /// - Parameter limit: The maximum number of replies that wait to be read. One more ends the mailbox.
    func withReplies<Result>(
        to subject: String, _ token: UInt64, limit: Int, _ body: (Mailbox<NATSMessage>) async throws -> Result
    ) async throws -> Result {
        try await withMailbox(in: inbox, for: subject, token, limit: limit, body)
    }

    private func withMailbox<Result>(
        in inbox: ReplyInbox, for subject: String, _ token: UInt64, limit: Int,
        _ body: (Mailbox<NATSMessage>) async throws -> Result
    ) async throws -> Result {
        let mailbox = Mailbox<NATSMessage>(limit: limit, thread)
        inbox.add(token, subject: subject, mailbox)
        defer { inbox.remove(token) }
        return try await body(mailbox)
    }

    /// Receives what a consumer delivers in answer to requests with a token, while `body` runs.
    /// - Parameter limit: The maximum number of messages that wait to be read. One more ends the mailbox.
    func withDeliveries<Result>(
        to subject: String, _ token: UInt64, limit: Int, _ body: (Mailbox<NATSMessage>) async throws -> Result
    ) async throws -> Result {
        try await withMailbox(in: deliveries, for: subject, token, limit: limit) { mailbox in
            let (link, id) = try state.withLock { state in
                guard let link = state.link else { throw NATSError.disconnected(subject) }
                state.lastID += 1
                return (link, state.lastID)
            }
            perform {
                do throws(NATSError) {
                    try link.subscribe(to: self.deliveries.reply(token), id: id, .read) { pointer in
                        guard let pointer else { return self.deliveries.fail(token, NATSError.noResponders(subject)) }
                        self.deliveries.receive(pointer, for: token)
                    }
                } catch {
                    self.deliveries.fail(token, error)
                }
            }
            defer { perform { link.unsubscribe(id) } }
            return try await body(mailbox)
        }
    }

    private func send(_ message: OutgoingMessage, for token: UInt64, in inbox: ReplyInbox) {
        do {
            try send(message) { error in inbox.fail(token, error) }
        } catch {
            inbox.fail(token, error)
        }
    }

    private func send(_ message: OutgoingMessage, _ failed: @escaping @Sendable (NATSError) -> Void) throws {
        let isOnThread = !options.usesTLS && thread.isIsolatingCurrentContext() == true
        let (link, nothingWaits) = try state.withLock { state in
            guard let link = state.link else {
                throw state.phase == .closed ? NATSError.closed : .disconnected(message.subject)
            }
            guard message.size <= state.maximumPayload else {
                throw NATSError(
                    .tooLarge,
                    "the message to '\(message.subject)' has \(message.size) bytes; "
                        + "the server's max_payload is \(state.maximumPayload)")
            }
            guard state.queuedBytes < Self.queueLimit else {
                throw NATSError(.congested, "\(state.queuedBytes) bytes wait to be sent to the NATS server")
            }
            return (link, state.queuedBytes == 0)
        }
        // On the thread of the links, a message can be sent at once. It must not overtake the messages and
        // subscriptions that wait for the thread.
        if isOnThread, nothingWaits { return try link.publish(message) }
        perform(size: message.size) {
            do throws(NATSError) { try link.publish(message) } catch { failed(error) }
        }
    }

    // MARK: Subscriptions

    /// Subscribes to a subject while `body` runs. If there is a connection, the server knows the subscription when
    /// `body` begins.
    /// - Parameters:
    ///   - limit: The maximum number of messages that wait to be read. Further ones are dropped, and counted.
    ///   - handler: If it is not nil, it receives the messages instead of the subscription, whose reader then only
    ///     waits for the end. See ``subscribe(to:handler:)``.
    package func withSubscription<Result>(
        to subject: String, limit: Int = 65_536, handler: (@Sendable (NATSMessage) -> Void)? = nil,
        _ body: (NATSSubscription) async throws -> Result
    ) async throws -> Result {
        let subscription = NATSSubscription(subject, limit: limit, handler: handler, thread)
        let id = try begin(subscription)
        defer { endSubscription(id) }
        try await confirmSubscriptions()
        return try await body(subscription)
    }

    /// Passes the messages of a subject to `handler` until the subscription is ended. If there is a connection, the
    /// server knows the subscription when this method returns.
    /// - Parameter handler: The thread that reads calls it, before it passes on other messages that have arrived with
    ///   this one. It must not wait.
    package func subscribe(
        to subject: String, handler: @escaping @Sendable (NATSMessage) -> Void
    ) async throws -> HandledSubscription {
        let id = try begin(NATSSubscription(subject, limit: 1, handler: handler, thread))
        do {
            try await confirmSubscriptions()
        } catch {
            endSubscription(id)
            throw error
        }
        return HandledSubscription { self.endSubscription(id) }
    }

    private func begin(_ subscription: NATSSubscription) throws -> Int {
        let id = try state.withLock { state in
            guard state.phase != .closed else { throw NATSError.closed }
            state.lastID += 1
            state.subscriptions[state.lastID] = subscription
            return state.lastID
        }
        perform { self.subscribe(subscription, id) }
        return id
    }

    private func endSubscription(_ id: Int) {
        _ = state.withLock { $0.subscriptions.removeValue(forKey: id) }
        perform { self.state.withLock(\.link)?.unsubscribe(id) }
    }

    /// Waits until the server knows all subscriptions, or the connection is lost: the next link begins with them.
    private func confirmSubscriptions() async throws {
        while true {
            do {
                return try await roundTrip()
            } catch let error as NATSError where error.code == .disconnected {
                return
            } catch let error as NATSError where error.code == .timeout {
                // The server is stopped, or very slow.
            }
        }
    }

    /// Runs on the thread of the links.
    private func subscribe(_ subscription: NATSSubscription, _ id: Int) {
        do throws(NATSError) {
            try state.withLock(\.link)?.subscribe(
                to: subscription.subject, id: id, subscription.hasHandler ? .handled : .read
            ) { pointer in
                if let pointer { subscription.receive(NATSMessage(owning: pointer)) }
            }
        } catch {
            subscription.finish(throwing: error)
        }
    }
}

extension NATSConnection: NATSLinkOwner {
    func linkClosed(_ link: NATSLink, _ reason: String) {
        if state.withLock({ $0.link === link }) {
            handleDisconnection(.disconnected(reason.isEmpty ? "the connection was lost" : reason))
        }
        lossesWriter.yield(link.number)
    }

    func linkDenied(_ subject: DeniedSubject) {
        switch subject.operation {
        case .publish: for inbox in [inbox, acknowledgements, deliveries] { inbox.deny(subject) }
        case .subscribe where subject.matches(inbox.pattern) || subject.matches(acknowledgements.pattern):
            handleDisconnection(
                .disconnected(
                    "the NATS server does not permit this user to subscribe to _INBOX.>, where replies arrive"))
        case .subscribe:
            let denied = state.withLock { $0.subscriptions.values.filter { subject.matches($0.subject) } }
            for subscription in denied {
                subscription.finish(
                    throwing: NATSError(
                        .denied, "the NATS server does not permit this user to subscribe to '\(subscription.subject)'"))
            }
        }
    }
}
