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
        http.setup(channel: channel, logger: logger).map { AcceptedConnection($0) }
    }

    func handle(value connection: AcceptedConnection, logger: Logger) async {
        await http.handle(value: connection.acquire(), logger: logger)
    }
}

/// A connection that a server has accepted.
final class AcceptedConnection: ServerChildChannelValue {
    private let connection: HTTP1Channel.Value
    private let isAcquired = Atomic(false)

    init(_ connection: HTTP1Channel.Value) {
        self.connection = connection
    }

    /// Closes a connection that is not served, without reading from it. This task has no owner, because nobody has the
    /// connection any more; it ends when the channel is closed.
    deinit {
        guard !isAcquired.load(ordering: .relaxed) else { return }
        connection.channel.close(promise: nil)
        Task { [connection] in try? await connection.executeThenClose { _, _ in } }
    }

    var channel: any Channel { connection.channel }

    /// The connection, which the caller serves and closes.
    func acquire() -> HTTP1Channel.Value {
        isAcquired.store(true, ordering: .relaxed)
        return connection
    }
}
