internal import Logging
internal import NIOCore

/// Closes a connection whose peer stops in the middle of a request, or does not read an answer.
///
/// Hummingbird's own timeout closes connections that are idle, and those whose headers do not end. It does not limit
/// the time of a body that arrives byte by byte, nor that of an answer.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    struct Limits: Sendable {
        /// The time after which a connection without a request, or with a part of the headers, is closed.
        var idle = TimeAmount.seconds(60)
        /// The maximum time from the headers of a request to its answer.
        var request = TimeAmount.seconds(60)
        /// The time between two looks at an answer that is being written. If the peer has read nothing in between, the
        /// connection is closed.
        var write = TimeAmount.seconds(60)
    }

    private let limits: Limits
    private let logger: Logger
    private var requestDeadline: Scheduled<Void>?
    private var writeCheck: Scheduled<Void>?
    /// The numbers of writes that have begun, and that have ended.
    private var (begun, ended) = (0, 0)
    /// The number of writes that had ended at the last look, and of bytes that waited then. Nil before the first look.
    private var seen: (ended: Int, waiting: Int)?

    init(_ limits: Limits, logger: Logger) {
        self.limits = limits
        self.logger = logger
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    private func cancel() {
        requestDeadline?.cancel()
        writeCheck?.cancel()
        (requestDeadline, writeCheck) = (nil, nil)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if requestDeadline == nil {
            requestDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.request) { [self] in
                close(context, "a request did not arrive in time")
            }
        }
        context.fireChannelRead(data)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        requestDeadline?.cancel()
        requestDeadline = nil
        begun += 1
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in ended += 1 }
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
