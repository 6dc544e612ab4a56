internal import HTTPTypes
package import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import SystemSupport

/// The HTTP servers of this project: their connections have limits, and requests of other sites are refused.
package enum HTTPServer {
    /// The maximum size of the headers of a request in bytes.
    private static let headerLimit = 16 << 10
    /// The number of connections that may exist for a moment beyond the limit, until those that are closed have ended.
    private static let closingCount = 16

    /// Creates a server.
    /// - Parameters:
    ///   - responder: Answers the requests for the server's own hosts.
    ///   - address: The address to listen on.
    ///   - port: The port. With 0 the system chooses one.
    ///   - hosts: The hosts of the requests that are answered.
    ///   - refuse: The answer to a request of another site.
    ///   - onListening: Called once with the port.
    package static func application<Responder: HTTPResponder>(
        _ responder: Responder, address: String = "127.0.0.1", port: Int, hosts: AllowedHosts,
        limits: ConnectionLimits, logger: Logger, refuse: @escaping @Sendable (ForeignRequest) -> Response,
        onListening: @escaping @Sendable (Int) async -> Void
    ) -> Application<OwnSiteResponder<Responder>> where Responder.Context: ConnectionContext {
        // A server that cannot accept a connection ends (hummingbird 2.28.1).
        let count = min(limits.count, DescriptorLimit.current / 2)
        let connections = OpenConnections(limit: count, logger: logger)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(connections, limits, logger: logger)], idleTimeout: limits.idle,
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: headerLimit, maxHeaderListSize: headerLimit, maxHeaderFieldCount: 100))
        return Application(
            responder: OwnSiteResponder(responder: responder, hosts: hosts, refuse: refuse),
            server: HTTPServerBuilder {
                AcceptedConnections(http: HTTP1Channel(responder: $0, configuration: configuration))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(address, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(count + closingCount, logger: logger)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onListening(port) }
            },
            logger: logger)
    }
}

/// The context of a request to an ``HTTPServer``.
package protocol ConnectionContext: RequestContext where Source == ApplicationRequestContextSource {
    var connection: HTTPConnection { get }
}

/// The context of a request that has no data of its own.
package struct PlainContext: ConnectionContext {
    package var coreContext: CoreRequestContextStorage
    package let connection: HTTPConnection

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = HTTPConnection(source: source)
    }
}

/// The connection of a request.
package struct HTTPConnection: Sendable {
    private let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// The port of the server.
    var port: Int { channel.localAddress?.port ?? 0 }

    /// Tells the server who has signed in with the request, until the next request. An operator's connection is then not
    /// closed for a further one while it is in use.
    package func setUser(_ user: ConnectionUser) async {
        try? await channel.triggerUserOutboundEvent(user)
    }
}
