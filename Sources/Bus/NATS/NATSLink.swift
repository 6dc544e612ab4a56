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
/// - Note: `@unchecked Sendable`: after ``open(_:)``, the properties that change are used only on the executor's thread,
///   except `socket`, which has a lock.
final class NATSLink: ThreadWatch, @unchecked Sendable {
    /// What libnats wants to know about its socket.
    private struct Socket {
        /// The descriptor; -1 if it must not be used.
        var descriptor: Int32 = -1
        /// True if libnats has something to write.
        var wantsToWrite = false
    }

    /// The order in which messages that have arrived together are taken.
    enum Rank: Comparable {
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
        let take: (OpaquePointer?) -> Void
    }

    /// A connection of libnats that is no longer used, to be closed.
    struct Remains: @unchecked Sendable {
        fileprivate let connection: OpaquePointer
    }

    /// Distinguishes the links of a connection.
    let number: Int
    private let thread: ExecutorThread
    private let owner: any NATSLinkOwner
    private let socket = Mutex(Socket())
    private var connection: OpaquePointer?
    /// The subscriptions whose messages this thread takes, in the order in which it does.
    private var subscriptions: [Subscription] = []
    /// The subscription whose messages libnats delivers.
    private var inbox: OpaquePointer?
    /// True if the descriptor was signalled.
    private var hasNews = false
    /// The number of times that the server's socket was full.
    private var blockCount = 0
    /// True while the server's socket is full.
    private var isBlocked = false

    /// The maximum number of bytes that wait while the server's socket is full.
    private static let bufferLimit = 64 << 20
    /// The maximum time for which the server's socket may be full.
    private static let patience = Duration.seconds(10)

    init(_ number: Int, _ thread: ExecutorThread, owner: any NATSLinkOwner) {
        self.number = number
        self.thread = thread
        self.owner = owner
    }

    // MARK: Opening and closing

    /// Connects to one of the servers. Waits for up to two seconds for each.
    /// - Returns: The server's `max_payload`.
    /// - Throws: ``NATSError`` `disconnected` or `invalid`.
    func open(_ options: NATSOptions) throws(NATSError) -> Int {
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
            let status = natsConnection_Connect(&connection, options.pointer)
            guard status == NATS_OK, let connection else {
                let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
                let reason = Self.threadError()
                throw NATSError(.disconnected, reason.isEmpty ? text : reason)
            }
            return Int(natsConnection_GetMaxPayload(connection))
        } catch {
            context.release()
            throw error
        }
    }

    /// Begins to read and write.
    func begin() {
        hasNews = true
        thread.add(self)
    }

    /// Writes what waits, if the server reads it, and ends the use of the connection. Its messages no longer arrive.
    /// - Returns: What is to be closed; nil after the first call.
    func end() -> Remains? {
        guard let connection else { return nil }
        for subscription in subscriptions { natsSubscription_Destroy(subscription.pointer) }
        natsSubscription_Destroy(inbox)
        (subscriptions, inbox) = ([], nil)
        // If libnats has nothing to write, closing does not wait.
        write()
        thread.remove(self)
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
        if isBlocked {
            let size = Int(natsConnection_Buffered(connection))
            guard size < Self.bufferLimit else {
                throw NATSError(.congested, "\(size) bytes wait to be sent to the NATS server")
            }
        }
        let status = natsConnection_PublishMsg(connection, message.pointer)
        guard status == NATS_OK else { throw NATSError(status, message.subject) }
    }

    /// Adds a subscription unless there is one with this id.
    /// - Parameters:
    ///   - take: Takes ownership of a `natsMsg`. Must return quickly. Nil stands for the server's message that nobody
    ///     answers a request: libnats does not tell which one.
    func subscribe(
        to subject: String, queue: String? = nil, id: Int, _ rank: Rank, _ take: @escaping (OpaquePointer?) -> Void
    ) throws(NATSError) {
        guard let connection, !subscriptions.contains(where: { $0.id == id }) else { return }
        var subscription: OpaquePointer?
        let status =
            if let queue {
                natsConnection_QueueSubscribeSync(&subscription, connection, subject, queue)
            } else {
                natsConnection_SubscribeSync(&subscription, connection, subject)
            }
        guard status == NATS_OK, let subscription else { throw NATSError(status, subject) }
        // Messages are taken as soon as they have been read, so libnats needs no limit. (A large limit in
        // `natsOptions_SetMaxPendingMsgs` would make libnats 3.4.1 refuse all subscriptions.)
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        let index = subscriptions.firstIndex { $0.rank > rank } ?? subscriptions.count
        subscriptions.insert(Subscription(id: id, rank: rank, pointer: subscription, take: take), at: index)
    }

    /// Adds the subscription whose messages a thread of libnats delivers. Can be called once.
    /// - Parameter handler: Receives the messages, also the server's message that nobody answers a request.
    func subscribe(to subject: String, handler: SubscriptionContext) throws(NATSError) {
        guard let connection else { return }
        // libnats holds the context until it has delivered the last message of the closed subscription.
        let context = Unmanaged.passRetained(handler).toOpaque()
        let deliver: natsMsgHandler = { _, _, message, context in
            guard let message, let context else { return }
            Unmanaged<SubscriptionContext>.fromOpaque(context).takeUnretainedValue().take(message)
        }
        var subscription: OpaquePointer?
        let status = natsConnection_Subscribe(&subscription, connection, subject, deliver, context)
        guard status == NATS_OK, let subscription else {
            Unmanaged<SubscriptionContext>.fromOpaque(context).release()
            throw NATSError(status, subject)
        }
        let completion: natsOnCompleteCB = { context in
            context.map { Unmanaged<SubscriptionContext>.fromOpaque($0).release() }
        }
        // If this fails, the context is never released, which is safe.
        _ = natsSubscription_SetOnCompleteCB(subscription, completion, context)
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        inbox = subscription
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
            fd: socket.withLock(\.descriptor), events: Int16(isBlocked ? POLLIN | POLLOUT : POLLIN), revents: 0)
    }

    func noteNews() {
        hasNews = true
    }

    func handle() -> Bool {
        var hasWorked = false
        if !isBlocked || hasNews { hasWorked = write() }
        guard hasNews else { return hasWorked }
        hasNews = false
        read()
        return true
    }

    private func read() {
        guard let connection, socket.withLock(\.descriptor) >= 0 else { return }
        natsConnection_ProcessReadEvent(connection)
        for subscription in subscriptions {
            var count: UInt64 = 0
            while natsSubscription_QueuedMsgs(subscription.pointer, &count) == NATS_OK, count > 0 {
                var message: OpaquePointer?
                switch natsSubscription_NextMsg(&message, subscription.pointer, 0) {
                case NATS_OK: subscription.take(message)
                case NATS_NO_RESPONDERS: subscription.take(nil)
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
        natsConnection_ProcessWriteEvent(connection)
        let wasBlocked = isBlocked
        isBlocked = socket.withLock(\.wantsToWrite)
        if isBlocked, !wasBlocked { watchBlockade() }
        return !isBlocked
    }

    /// Gives up the connection if the server's socket stays full.
    private func watchBlockade() {
        blockCount += 1
        let count = blockCount
        thread.perform(after: Self.patience) { [weak self] in
            guard let self, isBlocked, blockCount == count, connection != nil else { return }
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

/// The argument of the handler of a subscription.
final class SubscriptionContext: Sendable {
    /// Takes ownership of a `natsMsg`.
    let take: @Sendable (OpaquePointer) -> Void

    init(_ take: @escaping @Sendable (OpaquePointer) -> Void) {
        self.take = take
    }
}
