internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Synchronization

/// Serves connections with HTTP/1.1, and closes those that it never serves.
///
/// If the task of a server is cancelled, hummingbird (2.28.1) drops the connections that were accepted just before. When
/// the channel of such a connection is released, swift-nio ends the whole process: "Deinited NIOAsyncWriter without
/// calling finish()" (github.com/apple/swift-nio/issues/2637).
struct AcceptedConnections: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        http.setup(channel: channel, logger: logger).map { AcceptedConnection($0, http, logger) }
    }

    func handle(value connection: AcceptedConnection, logger: Logger) async {
        await connection.serve()
    }
}

/// A connection that a server has accepted.
final class AcceptedConnection: ServerChildChannelValue {
    private let connection: HTTP1Channel.Value
    private let http: HTTP1Channel
    private let logger: Logger
    private let isServed = Atomic(false)

    init(_ connection: HTTP1Channel.Value, _ http: HTTP1Channel, _ logger: Logger) {
        self.connection = connection
        self.http = http
        self.logger = logger
    }

    /// A connection that is not served is closed, and then served: that ends at once and releases the channel properly.
    /// This task has no owner, because nobody has the connection any more; it lasts until the channel is closed.
    deinit {
        guard !isServed.load(ordering: .relaxed) else { return }
        connection.channel.close(promise: nil)
        Task { [connection, http, logger] in await http.handle(value: connection, logger: logger) }
    }

    var channel: any Channel { connection.channel }

    func serve() async {
        isServed.store(true, ordering: .relaxed)
        await http.handle(value: connection, logger: logger)
    }
}
