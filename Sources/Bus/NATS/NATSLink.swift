internal import CNATS

/// The receiver of the events of a ``NATSLink``. The threads of libnats call it, so it must return quickly.
protocol NATSLinkOwner: AnyObject, Sendable {
    /// - Parameter maximumPayload: The server's `max_payload` in bytes.
    func linkConnected(maximumPayload: Int)
    func linkDisconnected(_ reason: String)
    func linkClosed()
    func linkDenied(_ subject: DeniedSubject)
    /// Takes ownership of a reply.
    func linkReceivedReply(_ pointer: OpaquePointer)
}

/// One connection of libnats: it connects again by itself, until it is closed or the server refuses the user.
///
/// - Note: `@unchecked Sendable`: the properties that change are used only on the ``NATSThread`` of the connection,
///   where all methods are called.
final class NATSLink: @unchecked Sendable {
    private var pointer: OpaquePointer?
    private var subscriptions: [Int: OpaquePointer] = [:]

    /// Begins to connect. The first attempt happens before this method returns.
    /// - Throws: ``NATSError``: the first attempt failed in a way that libnats does not repeat.
    func open(_ options: NATSOptions, owner: any NATSLinkOwner, inbox: String) throws(NATSError) {
        // libnats holds the owner until it calls the close handler, which is the last one of a connection. If there is
        // no connection, it calls none.
        let context = Unmanaged.passRetained(LinkContext(owner))
        let handlers = LinkCallbacks(
            connected: { connection, context in
                LinkContext.of(context)?.linkConnected(
                    maximumPayload: Int(connection.map { natsConnection_GetMaxPayload($0) } ?? 0))
            },
            disconnected: { connection, context in
                LinkContext.of(context)?.linkDisconnected(NATSLink.lastError(connection))
            },
            reconnected: { connection, context in
                LinkContext.of(context)?.linkConnected(
                    maximumPayload: Int(connection.map { natsConnection_GetMaxPayload($0) } ?? 0))
            },
            closed: { _, context in
                guard let context else { return }
                Unmanaged<LinkContext>.fromOpaque(context).takeRetainedValue().owner.linkClosed()
            },
            error: { connection, _, status, context in
                guard status == NATS_NOT_PERMITTED, let subject = NATSLink.deniedSubject(connection) else { return }
                LinkContext.of(context)?.linkDenied(subject)
            })
        do throws(NATSError) {
            let made = try LinkOptions(options, handlers, context: context.toOpaque())
            var connection: OpaquePointer?
            let status = natsConnection_Connect(&connection, made.pointer)
            guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else {
                let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
                throw NATSError(.disconnected, "no connection to \(options.addresses): \(text)")
            }
            pointer = connection
            try subscribe(
                to: "\(inbox).*", queue: nil, id: 0,
                handler: SubscriptionContext { owner.linkReceivedReply($0) })
            // libnats does not call the connect handler if the first attempt succeeds.
            if status == NATS_OK { owner.linkConnected(maximumPayload: Int(natsConnection_GetMaxPayload(connection))) }
        } catch {
            if pointer == nil { context.release() } else { close() }
            throw error
        }
    }

    /// Sends a message.
    func publish(_ message: OutgoingMessage) throws(NATSError) {
        guard let pointer else { throw .disconnected(message.subject) }
        let status = natsConnection_PublishMsg(pointer, message.pointer)
        // Only a part of the message may have been written, so nothing can be sent after it.
        if status == NATS_TIMEOUT { close() }
        guard status == NATS_OK else { throw NATSError(status, message.subject) }
    }

    /// Adds a subscription unless there is one with this id. libnats makes it again after each reconnection.
    /// - Parameter handler: Receives the messages on a thread of libnats.
    func subscribe(to subject: String, queue: String?, id: Int, handler: SubscriptionContext) throws(NATSError) {
        guard let pointer, subscriptions[id] == nil else { return }
        // libnats holds the context until it has delivered the last message of the closed subscription.
        let context = Unmanaged.passRetained(handler).toOpaque()
        let deliver: natsMsgHandler = { _, _, message, context in
            guard let message, let context else { return }
            Unmanaged<SubscriptionContext>.fromOpaque(context).takeUnretainedValue().take(message)
        }
        var subscription: OpaquePointer?
        let status =
            if let queue {
                natsConnection_QueueSubscribe(&subscription, pointer, subject, queue, deliver, context)
            } else {
                natsConnection_Subscribe(&subscription, pointer, subject, deliver, context)
            }
        guard status == NATS_OK, let subscription else {
            Unmanaged<SubscriptionContext>.fromOpaque(context).release()
            throw NATSError(status, subject)
        }
        let completion: natsOnCompleteCB = { context in
            context.map { Unmanaged<SubscriptionContext>.fromOpaque($0).release() }
        }
        // If this fails, the context is never released, which is safe.
        _ = natsSubscription_SetOnCompleteCB(subscription, completion, context)
        // The handler never waits, and its own buffer is bounded, so libnats needs no limit. (A large limit in
        // `natsOptions_SetMaxPendingMsgs` would make libnats 3.4.1 refuse all subscriptions.)
        natsSubscription_SetPendingLimits(subscription, -1, -1)
        subscriptions[id] = subscription
    }

    func unsubscribe(_ id: Int) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        natsSubscription_Unsubscribe(subscription)
        natsSubscription_Destroy(subscription)
    }

    /// Closes the connection. libnats then calls the close handler.
    func close() {
        for subscription in subscriptions.values { natsSubscription_Destroy(subscription) }
        subscriptions = [:]
        guard let pointer else { return }
        self.pointer = nil
        natsConnection_Close(pointer)
        natsConnection_Destroy(pointer)
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

/// The argument of the handlers of a connection.
private final class LinkContext: Sendable {
    let owner: any NATSLinkOwner

    init(_ owner: any NATSLinkOwner) {
        self.owner = owner
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> (any NATSLinkOwner)? {
        context.map { Unmanaged<LinkContext>.fromOpaque($0).takeUnretainedValue().owner }
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
