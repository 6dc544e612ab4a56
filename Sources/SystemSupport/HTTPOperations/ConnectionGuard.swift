internal import Logging
package import NIOCore
internal import NIOHTTPTypes

/// The limits of a server's connections.
package struct ConnectionLimits: Sendable, Equatable {
    /// The maximum number of connections. See ``OpenConnections``.
    package var count = 256
    /// The time after which a connection without a request, or with a part of the headers, is closed.
    package var idle = TimeAmount.seconds(60)
    /// The maximum time from the headers of a request to its end.
    package var request = TimeAmount.seconds(60)
    /// The time between two looks at an answer that is being written. If the peer has read nothing in between, the
    /// connection is closed.
    package var write = TimeAmount.seconds(60)

    package init() {}
}

/// Tells ``OpenConnections`` the state of one connection, and closes the connection if its peer stops in the middle of a
/// request or does not read an answer.
///
/// Hummingbird's own timeout closes connections that are idle, and those whose headers do not end. It does not limit
/// the time of a body that arrives byte by byte, nor that of an answer.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: OpenConnections
    private let limits: ConnectionLimits
    private let logger: Logger
    private var requestDeadline: Scheduled<Void>?
    private var writeCheck: Scheduled<Void>?
    /// The numbers of writes that have begun, and that have ended.
    private var (begun, ended) = (0, 0)
    /// The number of writes that had ended at the last look, and of bytes that waited then. Nil before the first look.
    private var seen: (ended: Int, waiting: Int)?
    /// The number of whole requests whose answers have not ended.
    private var openRequests = 0
    /// Nil if the sender of the last request has not signed in. See ``HTTPConnection/setUser(_:)``.
    private var user: ConnectionUser?

    init(_ connections: OpenConnections, _ limits: ConnectionLimits, logger: Logger) {
        self.connections = connections
        self.limits = limits
        self.logger = logger
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        connections.open(context.channel)
        do {
            try EarlierVersion.add(to: context.pipeline.syncOperations)
        } catch {
            context.fireErrorCaught(error)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext) {
        requestDeadline?.cancel()
        writeCheck?.cancel()
        (requestDeadline, writeCheck) = (nil, nil)
        connections.close(context.channel)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let user = event as? ConnectionUser else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        self.user = user
        update(context)
        promise?.succeed()
    }

    private func update(_ context: ChannelHandlerContext) {
        connections.set(context.channel, user: user, isInUse: openRequests > 0)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            // A proxy may send the requests of several browsers over one connection.
            if openRequests == 0 { user = nil }
            update(context)
            requestDeadline?.cancel()
            requestDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.request) { [self] in
                close(context, "a request did not arrive in time")
            }
        case .body: break
        case .end:
            requestDeadline?.cancel()
            requestDeadline = nil
            openRequests += 1
            update(context)
        }
        context.fireChannelRead(data)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        begun += 1
        var isEnd = false
        if case .end = unwrapOutboundIn(data) { isEnd = true }
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            ended += 1
            guard isEnd else { return }
            // A request may be answered before its end has arrived.
            openRequests = max(0, openRequests - 1)
            update(context)
        }
        context.write(data, promise: promise)
        if writeCheck == nil { scheduleWriteCheck(context) }
    }

    private func scheduleWriteCheck(_ context: ChannelHandlerContext) {
        writeCheck = context.eventLoop.assumeIsolated().scheduleTask(in: limits.write) { [self] in
            writeCheck = nil
            checkWrites(context)
        }
    }

    private func checkWrites(_ context: ChannelHandlerContext) {
        let last = seen
        seen = nil
        guard ended < begun else { return }
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if let last, last.ended == ended, waiting >= last.waiting {
            return close(context, "a peer does not read its answer")
        }
        seen = (ended, waiting)
        scheduleWriteCheck(context)
    }

    private func close(_ context: ChannelHandlerContext, _ reason: String) {
        logger.debug("closed a connection: \(reason)")
        context.close(promise: nil)
    }
}
