internal import NIOCore
internal import NIOHTTP1

/// Answers requests of HTTP/1.0, such as those of many proxies, in HTTP/1.0: without chunks, which this version does not
/// have, and by closing the connection at the end of the answer (RFC 9112, section 6.3).
///
/// Hummingbird does not know the version of a request, and answers each in HTTP/1.1. So this handler is next to the
/// encoder.
final class EarlierVersion: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var isEarlier = false

    /// Adds the handler to the pipeline of a server's connection.
    static func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(EarlierVersion(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { isEarlier = head.version == .http1_0 }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isEarlier else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            head.version = .http1_0
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            let promise = promise ?? context.eventLoop.makePromise()
            let channel = context.channel
            promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
            context.write(data, promise: promise)
        }
    }
}
