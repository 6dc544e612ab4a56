internal import Synchronization

/// A connection to one of several NATS servers, which connects again whenever it is lost.
///
/// It exists while ``run()`` runs. Requests that are under way when the connection is lost fail with `disconnected`;
/// subscriptions continue after the reconnection, without the messages of the time between.
package final class NATSConnection: Sendable {
    private struct State {
        var phase = NATSState.connecting
        /// True while messages can be sent.
        var isUp = false
        var maximumPayload = 0
        var connectionCount = 0
        var hasBegun = false
        var listeners: [Int: AsyncStream<NATSState>.Continuation] = [:]
        var subscriptions: [Int: NATSSubscription] = [:]
        /// The last id of a listener or a subscription. The inbox has 0.
        var lastID = 0
        /// The events of the open link.
        var link: AsyncStream<LinkEvent>.Continuation?
        /// The bytes that wait for the thread.
        var queuedBytes = 0
        /// Makes the last message.
        var farewell: (@Sendable () -> (subject: String, body: [UInt8])?)?
    }

    private enum LinkEvent { case connected, closed }

    /// The maximum number of bytes that wait to be sent.
    private static let queueLimit = 64 << 20
    private static let retryDelay = Duration.seconds(1)

    package let options: NATSOptions
    package let deadlines = Deadlines()
    let inbox = Inbox()
    private let thread = NATSThread()
    private let link = NATSLink()
    private let state = Mutex(State())

    package init(_ options: NATSOptions) {
        self.options = options
    }

    deinit {
        thread.stop()
    }

    /// Keeps the connection until the task is cancelled. Can be called once. If the server has stopped reading, the end
    /// takes up to 10 seconds, the deadline for writing.
    package func run() async throws {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { throw NATSError(.closed, "run() of a connection to NATS was called twice") }
        await withTaskCancellationHandler {
            await withTaskGroup { group in
                group.addTask { await self.deadlines.run() }
                group.addTask { await self.keepLink() }
                await group.waitForAll()
            }
        } onCancel: {
            // Whatever waits ends now, although the end of the link may take longer.
            end()
        }
    }

    /// Opens a link, and another one whenever libnats has given up.
    private func keepLink() async {
        while !Task.isCancelled {
            let (events, writer) = AsyncStream.makeStream(of: LinkEvent.self, bufferingPolicy: .bufferingNewest(64))
            state.withLock { $0.link = writer }
            let failure = await thread.call {
                do throws(NATSError) {
                    try self.link.open(self.options, owner: self, inbox: self.inbox.prefix)
                    self.subscribeAll()
                    return NATSError?.none
                } catch { return error }
            }
            if let failure {
                noteDown(failure.message)
            } else {
                events: for await event in events {
                    switch event {
                    case .connected: await identifyServer()
                    case .closed: break events
                    }
                }
                await thread.call { self.link.close() }
            }
            // Ends early if the task is cancelled.
            try? await Task.sleep(for: Self.retryDelay)
        }
    }

    /// Asks the server for its version, and reports the connection.
    private func identifyServer() async {
        let (count, size) = state.withLock { ($0.connectionCount, $0.maximumPayload) }
        var info = NATSServerInfo(maximumPayload: size)
        do {
            let reply = try await request("$SYS.REQ.USER.INFO", timeout: .seconds(2))
            info.read(reply.body)
        } catch let error as NATSError where error.code == .disconnected {
            return
        } catch {}
        change { state in
            guard state.isUp, state.connectionCount == count else { return nil }
            return .connected(info)
        }
    }

    private func end() {
        if let farewell = state.withLock(\.farewell), let message = farewell() {
            try? publish(message.subject, body: message.body)
        }
        change { state in
            state.isUp = false
            return .closed
        }
        let (listeners, subscriptions) = state.withLock { state in
            defer { (state.listeners, state.subscriptions) = ([:], [:]) }
            return (state.listeners.values, state.subscriptions.values)
        }
        for listener in listeners { listener.finish() }
        for subscription in subscriptions { subscription.finish(throwing: NATSError.closed) }
        inbox.failAll { _ in NATSError.closed }
    }

    // MARK: State

    package var current: NATSState { state.withLock(\.phase) }

    /// The number of times that a connection was made. If it has grown, messages may have been lost, and consumers of
    /// JetStream must begin anew.
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
        try await withThrowingTaskGroup(of: NATSServerInfo.self) { group in
            group.addTask {
                for await state in self.changes() {
                    if case .connected(let info) = state { return info }
                }
                try Task.checkCancellation()
                throw NATSError.closed
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                let reason = if case .disconnected(let reason) = self.current { ": \(reason)" } else { "" }
                throw NATSError(
                    .disconnected, "no NATS server answers at \(self.options.addresses) within \(timeout)\(reason)")
            }
            defer { group.cancelAll() }
            guard let info = try await group.next() else { throw CancellationError() }
            return info
        }
    }

    /// Changes the state, and tells the listeners while the lock is held, so that all see the same order.
    private func change(_ update: (inout State) -> NATSState?) {
        state.withLock { state in
            guard let phase = update(&state), phase != state.phase else { return }
            state.phase = phase
            for listener in state.listeners.values { listener.yield(phase) }
        }
    }

    private func noteDown(_ reason: String) {
        change { state in
            state.isUp = false
            // libnats reports the end of its connection after `run()` may have ended.
            return state.phase == .closed ? nil : .disconnected(reason)
        }
        inbox.failAll { NATSError.disconnected($0) }
    }

    // MARK: Messages

    /// Sets the function that makes the last message, which is sent when ``run()`` is cancelled. It must not wait.
    package func setFarewell(_ farewell: @escaping @Sendable () -> (subject: String, body: [UInt8])?) {
        state.withLock { $0.farewell = farewell }
    }

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
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8] = [], timeout: Duration
    ) async throws -> NATSMessage {
        let token = inbox.makeToken()
        let message = try OutgoingMessage(subject, reply: inbox.reply(token), headers: headers, body: body)
        return try await reply(to: message, token, timeout: timeout)
    }

    /// Sends a request and calls `complete` with its reply, without a task.
    /// - Parameter complete: Called once, with the reply or with an error of ``request(_:headers:body:timeout:)``. It
    ///   must not wait: a thread of libnats or the caller's thread calls it.
    package func request(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8] = [], timeout: Duration,
        completion complete: @escaping @Sendable (Result<NATSMessage, any Error>) -> Void
    ) {
        let token = inbox.makeToken()
        let message: OutgoingMessage
        do {
            message = try OutgoingMessage(subject, reply: inbox.reply(token), headers: headers, body: body)
        } catch {
            return complete(.failure(error))
        }
        let end = ContinuousClock.now + timeout
        let deadline = deadlines.add(after: timeout) { self.inbox.fail(token, NATSError.timeout(subject, timeout)) }
        inbox.add(token, subject: subject) { result in
            self.deadlines.remove(deadline)
            complete(result)
        }
        send(message, for: token)
        // The deadline may have come before the entry was there.
        if ContinuousClock.now >= end { inbox.fail(token, NATSError.timeout(subject, timeout)) }
    }

    /// The number of requests and consumers that wait for replies.
    package var pendingReplyCount: Int { inbox.count }

    /// Sends a message to the server and waits for it to come back. Then the server has processed all that was sent
    /// before, such as subscriptions.
    package func roundTrip(timeout: Duration = .seconds(5)) async throws {
        let token = inbox.makeToken()
        // The reply subject is not used; the message itself is the reply.
        let subject = inbox.reply(token)
        let message = try OutgoingMessage(subject, reply: nil, headers: [:], body: [])
        _ = try await reply(to: message, token, timeout: timeout)
    }

    /// Sends a message and waits for the reply with its token.
    private func reply(
        to message: OutgoingMessage, _ token: UInt64, timeout: Duration
    ) async throws -> NATSMessage {
        let subject = message.subject
        let end = ContinuousClock.now + timeout
        let deadline = deadlines.add(after: timeout) {
            self.inbox.fail(token, NATSError.timeout(subject, timeout))
        }
        defer { deadlines.remove(deadline) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                inbox.add(token, subject: subject) { continuation.resume(with: $0) }
                send(message, for: token)
                // The cancellation handler or the deadline may have come before the entry was there.
                if Task.isCancelled {
                    inbox.fail(token, CancellationError())
                } else if ContinuousClock.now >= end {
                    inbox.fail(token, NATSError.timeout(subject, timeout))
                }
            }
        } onCancel: {
            inbox.fail(token, CancellationError())
        }
    }

    /// Sends a request that has any number of replies to `mailbox`, which must be registered as `token`.
    func sendRequest(_ subject: String, headers: NATSHeaders = [:], body: [UInt8], to token: UInt64) throws {
        let message = try OutgoingMessage(subject, reply: inbox.reply(token), headers: headers, body: body)
        send(message, for: token)
    }

    /// Receives any number of replies to requests with a token while `body` runs.
    /// - Parameter limit: The maximum number of replies that wait to be read. One more ends the mailbox.
    func withReplies<Result>(
        to subject: String, _ token: UInt64, limit: Int, _ body: (Mailbox<NATSMessage>) async throws -> Result
    ) async throws -> Result {
        let mailbox = Mailbox<NATSMessage>(limit: limit, deadlines: deadlines)
        inbox.add(token, subject: subject, mailbox)
        defer { inbox.remove(token) }
        return try await body(mailbox)
    }

    private func send(_ message: OutgoingMessage, for token: UInt64) {
        do {
            try send(message) { error in self.inbox.fail(token, error) }
        } catch {
            inbox.fail(token, error)
        }
    }

    private func send(_ message: OutgoingMessage, _ failed: @escaping @Sendable (NATSError) -> Void) throws {
        try state.withLock { state in
            guard state.isUp else {
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
            state.queuedBytes += message.size
        }
        thread.perform {
            do throws(NATSError) { try self.link.publish(message) } catch { failed(error) }
            self.state.withLock { $0.queuedBytes -= message.size }
        }
    }

    // MARK: Subscriptions

    /// Subscribes to a subject while `body` runs. If there is a connection, the server knows the subscription when
    /// `body` begins.
    /// - Parameters:
    ///   - queue: The name of a group of subscribers, of which one receives each message. Nil for none.
    ///   - limit: The maximum number of messages that wait to be read. Further ones are dropped, and counted.
    ///   - handler: If it is not nil, it takes the messages instead of the subscription, whose reader then only waits for
    ///     the end. A thread of libnats calls it, for the messages of all subjects and for replies in the order in which
    ///     they arrive. It must not wait.
    package func withSubscription<Result>(
        to subject: String, queue: String? = nil, limit: Int = 65_536,
        handler: (@Sendable (NATSMessage) -> Void)? = nil, _ body: (NATSSubscription) async throws -> Result
    ) async throws -> Result {
        let subscription = NATSSubscription(
            subject, queue: queue, limit: limit, handler: handler, deadlines: deadlines)
        let id = try state.withLock { state in
            guard state.phase != .closed else { throw NATSError.closed }
            state.lastID += 1
            state.subscriptions[state.lastID] = subscription
            return state.lastID
        }
        defer {
            _ = state.withLock { $0.subscriptions.removeValue(forKey: id) }
            thread.perform { self.link.unsubscribe(id) }
        }
        thread.perform { self.subscribe(subscription, id) }
        var isConfirmed = false
        while !isConfirmed {
            do {
                try await roundTrip()
                isConfirmed = true
            } catch let error as NATSError where error.code == .disconnected {
                // libnats sends the subscription when it connects.
                isConfirmed = true
            } catch let error as NATSError where error.code == .timeout {
                // The server is stopped, or very slow.
            }
        }
        return try await body(subscription)
    }

    /// Makes the subscriptions of a new link. Runs on the thread.
    private func subscribeAll() {
        for (id, subscription) in state.withLock(\.subscriptions) { subscribe(subscription, id) }
    }

    private func subscribe(_ subscription: NATSSubscription, _ id: Int) {
        let context = SubscriptionContext { subscription.take(NATSMessage(owning: $0)) }
        do throws(NATSError) {
            try link.subscribe(to: subscription.subject, queue: subscription.queue, id: id, handler: context)
        } catch {
            subscription.finish(throwing: error)
        }
    }
}

extension NATSConnection: NATSLinkOwner {
    func linkConnected(maximumPayload: Int) {
        let link = state.withLock { state -> AsyncStream<LinkEvent>.Continuation? in
            guard state.phase != .closed else { return nil }
            state.isUp = true
            state.maximumPayload = maximumPayload
            state.connectionCount += 1
            return state.link
        }
        link?.yield(.connected)
    }

    func linkDisconnected(_ reason: String) {
        noteDown(reason.isEmpty ? "the connection was lost" : reason)
    }

    func linkClosed() {
        noteDown("the server closed the connection; it may refuse this user")
        state.withLock(\.link)?.yield(.closed)
    }

    func linkDenied(_ subject: DeniedSubject) {
        switch subject.operation {
        case .publish: inbox.deny(subject)
        case .subscribe where subject.matches("\(inbox.prefix).*"):
            noteDown("the NATS server does not permit this user to subscribe to _INBOX.>, where replies arrive")
        case .subscribe:
            let denied = state.withLock { $0.subscriptions.values.filter { subject.matches($0.subject) } }
            for subscription in denied {
                subscription.finish(
                    throwing: NATSError(
                        .denied, "the NATS server does not permit this user to subscribe to '\(subscription.subject)'"))
            }
        }
    }

    func linkReceivedReply(_ pointer: OpaquePointer) {
        inbox.take(pointer)
    }
}
