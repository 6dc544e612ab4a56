internal import CNATS
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// The receiver of the events of a ``NATSLink``. The threads of libnats call it, so it must return quickly.
protocol NATSLinkOwner: AnyObject, Sendable {
    func linkClosed(_ link: NATSLink, _ reason: String)
    func linkDenied(_ subject: DeniedSubject)
}

/// One connection of libnats to a server, until it is lost.
///
/// An ``ExecutorThread`` reads and writes the socket, so a message arrives on the thread of the tasks that wait for it.
/// Only opening and closing may wait for the server, and happen on a ``NATSThread``. libnats does not connect again by
/// itself: with an event loop of the caller, it would continue in the middle of the message that the loss has cut off
/// (nats.c 3.4.1 to 3.10, `natsConnection_ProcessReadEvent`).
///
/// With TLS, threads of libnats read, and the ``NATSThread`` writes and subscribes. For an event loop, libnats would wait
/// without a limit for a server that stops within a record of TLS (nats.c 3.4.1 to 3.9.3, `natsSock_Read`).
///
/// - Note: `@unchecked Sendable`: after ``open(_:)``, the properties that change are used only on the executor's thread,
///   or with TLS on the ``NATSThread``, except `socket`, which has a lock.
final class NATSLink: ThreadWatch, @unchecked Sendable {
    /// What libnats wants to know about its socket.
    private struct Socket {
        /// The descriptor; -1 if it must not be used.
        var descriptor: Int32 = -1
        /// True if libnats has something to write.
        var wantsToWrite = false
    }

    /// The order in which an event loop handles messages that have arrived together.
    enum Rank: Comparable {
        /// A thread of libnats delivers the messages.
        case delivered
        /// Messages that go to a handler: no later batch of the journal may overtake them.
        case handled
        case read
        /// An acknowledgement comes after the messages that the server has sent before it.
        case acknowledgements
    }

    private struct Subscription {
        let id: Int
        let rank: Rank
        let pointer: OpaquePointer
        let handler: Handler
    }

    /// Takes ownership of a `natsMsg`. Must return quickly. Nil stands for the server's message that a request has no
    /// responder, if libnats does not report which one.
    typealias Handler = @Sendable (OpaquePointer?) -> Void

    /// A connection of libnats that is no longer used, to be closed.
    ///
    /// - Note: `@unchecked Sendable`: the link gives it away once, and only ``close(_:)`` uses it.
    struct Remains: @unchecked Sendable {
        fileprivate let connection: OpaquePointer
    }

    /// Distinguishes the links of a connection.
    let number: Int
    private let thread: ExecutorThread
    private let owner: any NATSLinkOwner
    private let usesTLS: Bool
    private let socket = Mutex(Socket())
    private var connection: OpaquePointer?
    /// The subscriptions, in the order in which an event loop handles their messages.
    private var subscriptions: [Subscription] = []
    /// True if the descriptor was signalled.
    private var hasNews = false
    /// The time at which the server has last read something, while its socket is full.
    private var blockedSince: ContinuousClock.Instant?
    /// True while a timer watches a full socket.
    private var isWatched = false

    /// The maximum number of bytes that wait to be written.
    private static let bufferLimit = 64 << 20
    /// The maximum time for which the server's socket may be full.
    private static let patience = Duration.seconds(10)

    init(_ number: Int, _ thread: ExecutorThread, usesTLS: Bool, owner: any NATSLinkOwner) {
        self.number = number
        self.thread = thread
        self.usesTLS = usesTLS
        self.owner = owner
    }

    // MARK: Opening and closing

    /// Connects to one of the servers. Waits for up to two seconds for each.
    /// - Returns: The server's `max_payload`.
    /// - Throws: ``NATSError`` `disconnected`, `unauthenticated` or `invalid`.
    func open(_ options: NATSOptions) throws(NATSError) -> Int {
        try NATSLibrary.open()
        // libnats holds the link until it calls the close handler, which is the last one of a connection. If there is
        // no connection, it calls none.
        let context = Unmanaged.passRetained(self)
        let callbacks = LinkCallbacks(
            closed: { connection, context in
                guard let context else { return }
                let link = Unmanaged<NATSLink>.fromOpaque(context).takeRetainedValue()
                link.owner.linkClosed(link, NATSLink.lastError(connection))
            },
            error: { connection, _, status, context in
                guard status == NATS_NOT_PERMITTED, let subject = NATSLink.deniedSubject(connection) else { return }
                NATSLink.of(context)?.owner.linkDenied(subject)
            },
            attach: { data, context, _, descriptor in
                data?.pointee = context
                NATSLink.of(context)?.socket.withLock { $0 = Socket(descriptor: descriptor) }
                return NATS_OK
            },
            read: { context, isWanted in
                if !isWanted { NATSLink.of(context)?.socket.withLock { $0 = Socket() } }
                return NATS_OK
            },
            write: { context, isWanted in
                NATSLink.of(context)?.setWantsToWrite(isWanted)
                return NATS_OK
            },
            // libnats calls it after it has requested the close handler, so the context may be gone.
            detach: { _ in NATS_OK })
        do throws(NATSError) {
            let options = try LinkOptions(options, callbacks, context: context.toOpaque())
            // libnats may ask the options for a signature.
            let status = withExtendedLifetime(options) { natsConnection_Connect(&connection, options.pointer) }
            guard status == NATS_OK, let connection else {
                let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
                let reason = Self.threadError()
                throw NATSError(
                    status == NATS_CONNECTION_AUTH_FAILED ? .unauthenticated : .disconnected,
                    reason.isEmpty ? text : reason)
            }
            return Int(natsConnection_GetMaxPayload(connection))
        } catch {
            context.release()
            throw error
        }
    }

    /// Begins to read and write.
    func begin() {
        guard !usesTLS else { return }
        hasNews = true
        thread.add(self)
    }

    /// Writes what waits, if the server reads it, and ends the use of the connection. Its messages no longer arrive.
    /// - Returns: What is to be closed; nil after the first call.
    func end() -> Remains? {
        guard let connection else { return nil }
        for subscription in subscriptions { natsSubscription_Destroy(subscription.pointer) }
        subscriptions = []
        if !usesTLS {
            // If libnats has nothing to write, closing does not wait.
            write()
            thread.remove(self)
        }
        self.connection = nil
        return Remains(connection: connection)
    }

    /// Closes a connection. libnats then calls the close handler, unless the connection was lost before.
    static func close(_ remains: Remains) {
        natsConnection_Close(remains.connection)
        natsConnection_Destroy(remains.connection)
    }

    // MARK: Messages

    /// Sends a message.
    /// - Throws: ``NATSError`` `disconnected`, `congested` and others.
    func publish(_ message: OutgoingMessage) throws(NATSError) {
        guard let connection else { throw .disconnected(message.subject) }
        let size = Int(natsConnection_Buffered(connection))
        guard size < Self.bufferLimit else {
            throw NATSError(.congested, "\(size) bytes wait to be sent to the NATS server")
        }
        let status = natsConnection_PublishMsg(connection, message.pointer)
        guard status == NATS_OK else { throw NATSError(status, message.subject) }
    }

    /// Adds a subscription unless there is one with this id.
    func subscribe(
        to subject: String, id: Int, _ rank: Rank, _ handler: @escaping Handler
    ) throws(NATSError) {
        guard let connection, !subscriptions.contains(where: { $0.id == id }) else { return }
        let pointer =
            if usesTLS || rank == .delivered {
                try subscribe(connection, to: subject, handler)
            } else {
                try subscribe(connection, to: subject)
            }
        // The limits of the receivers count, not those of libnats. (A large limit in `natsOptions_SetMaxPendingMsgs`
        // would make libnats 3.4.1 refuse all subscriptions.)
        natsSubscription_SetPendingLimits(pointer, -1, -1)
        let index = subscriptions.firstIndex { $0.rank > rank } ?? subscriptions.count
        subscriptions.insert(Subscription(id: id, rank: rank, pointer: pointer, handler: handler), at: index)
    }

    /// Subscribes so that the event loop receives the messages.
    private func subscribe(_ connection: OpaquePointer, to subject: String) throws(NATSError) -> OpaquePointer {
        var subscription: OpaquePointer?
        let status = natsConnection_SubscribeSync(&subscription, connection, subject)
        guard status == NATS_OK, let subscription else { throw NATSError(status, subject) }
        return subscription
    }

    /// Subscribes so that a thread of libnats delivers the messages, also the server's message that a request has no
    /// responder.
    private func subscribe(
        _ connection: OpaquePointer, to subject: String, _ handler: @escaping Handler
    ) throws(NATSError) -> OpaquePointer {
        // libnats holds the context until it has delivered the last message of the closed subscription.
        let context = Unmanaged.passRetained(HandlerContext(handler: handler)).toOpaque()
        let deliver: natsMsgHandler = { _, _, message, context in
            guard let message, let context else { return }
            Unmanaged<HandlerContext>.fromOpaque(context).takeUnretainedValue().handler(message)
        }
        var subscription: OpaquePointer?
        let status = natsConnection_Subscribe(&subscription, connection, subject, deliver, context)
        guard status == NATS_OK, let subscription else {
            Unmanaged<HandlerContext>.fromOpaque(context).release()
            throw NATSError(status, subject)
        }
        let completion: natsOnCompleteCB = { context in
            context.map { Unmanaged<HandlerContext>.fromOpaque($0).release() }
        }
        // If this fails, the context is never released, which is safe.
        _ = natsSubscription_SetOnCompleteCB(subscription, completion, context)
        return subscription
    }

    /// The argument of the handler of a subscription.
    private final class HandlerContext: Sendable {
        let handler: Handler

        init(handler: @escaping Handler) {
            self.handler = handler
        }
    }

    func unsubscribe(_ id: Int) {
        guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return }
        let subscription = subscriptions.remove(at: index)
        natsSubscription_Unsubscribe(subscription.pointer)
        natsSubscription_Destroy(subscription.pointer)
    }

    // MARK: The socket

    var pollItem: pollfd {
        pollfd(
            fd: socket.withLock(\.descriptor), events: Int16(blockedSince == nil ? POLLIN : POLLIN | POLLOUT),
            revents: 0)
    }

    func recordSignal() {
        hasNews = true
    }

    func handle() -> Bool {
        var hasWorked = false
        if blockedSince == nil || hasNews { hasWorked = write() }
        guard hasNews else { return hasWorked }
        hasNews = false
        read()
        return true
    }

    private func read() {
        guard let connection, socket.withLock(\.descriptor) >= 0 else { return }
        natsConnection_ProcessReadEvent(connection)
        for subscription in subscriptions where subscription.rank != .delivered {
            var count: UInt64 = 0
            while natsSubscription_QueuedMsgs(subscription.pointer, &count) == NATS_OK, count > 0 {
                var message: OpaquePointer?
                switch natsSubscription_NextMsg(&message, subscription.pointer, 0) {
                case NATS_OK: subscription.handler(message)
                case NATS_NO_RESPONDERS: subscription.handler(nil)
                default: break
                }
            }
        }
    }

    /// Writes what waits, as far as the server reads it.
    /// - Returns: True if something was written.
    @discardableResult
    private func write() -> Bool {
        guard let connection, socket.withLock({ $0.descriptor >= 0 && $0.wantsToWrite }) else { return false }
        let size = natsConnection_Buffered(connection)
        natsConnection_ProcessWriteEvent(connection)
        let isBlocked = socket.withLock(\.wantsToWrite)
        if !isBlocked {
            blockedSince = nil
        } else if blockedSince == nil || natsConnection_Buffered(connection) < size {
            blockedSince = .now
        }
        if isBlocked, !isWatched { watchBlockade(for: Self.patience) }
        return !isBlocked
    }

    /// Gives up the connection if the server reads nothing for some time.
    private func watchBlockade(for duration: Duration) {
        isWatched = true
        thread.perform(after: duration) { [weak self] in
            guard let self else { return }
            isWatched = false
            guard let blockedSince, connection != nil else { return }
            let rest = Self.patience - (.now - blockedSince)
            if rest > .zero { return watchBlockade(for: rest) }
            owner.linkClosed(self, "the server has stopped reading")
        }
    }

    private func setWantsToWrite(_ isWanted: Bool) {
        socket.withLock { $0.wantsToWrite = isWanted }
        // A ping comes from a thread of libnats.
        if isWanted, thread.isIsolatingCurrentContext() != true { thread.perform {} }
    }

    // MARK: Errors

    private static func of(_ context: UnsafeMutableRawPointer?) -> NATSLink? {
        context.map { Unmanaged<NATSLink>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The last error of libnats on this thread, which is the one that the running handler is about.
    private static func threadError() -> String {
        var status = NATS_OK
        return nats_GetLastError(&status).map { String(cString: $0) } ?? ""
    }

    private static func lastError(_ connection: OpaquePointer?) -> String {
        var text: UnsafePointer<CChar>?
        guard let connection, natsConnection_GetLastError(connection, &text) != NATS_OK, let text else { return "" }
        return String(cString: text)
    }

    private static func deniedSubject(_ connection: OpaquePointer?) -> DeniedSubject? {
        DeniedSubject(threadError()) ?? DeniedSubject(lastError(connection))
    }
}
