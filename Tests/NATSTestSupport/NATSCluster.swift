/// Three nats-servers with routes to each other, for streams with three replicas.
package final class NATSCluster: Sendable {
    package let servers: [NATSServer]

    package init() throws {
        let ports = try NATSServer.freePorts(6)
        let routes = ports[3...].map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        servers = try (0..<3).map { index in
            try NATSServer(
                name: "n\(index + 1)", port: ports[index],
                settings: """
                    cluster { name: test, listen: "127.0.0.1:\(ports[3 + index])", routes: [\(routes)] }
                    """)
        }
    }

    package var urls: [String] { servers.map(\.url) }

    /// The server with this name, such as the leader of a stream.
    package func server(named name: String?) -> NATSServer? {
        servers.first { $0.name == name }
    }

    /// Starts the servers, runs `body`, and kills the servers.
    @discardableResult
    package func whileRunning<Result: Sendable>(
        _ body: @escaping @Sendable (NATSCluster) async throws -> Result
    ) async throws -> Result {
        try await servers[0].whileRunning { _ in
            try await self.servers[1].whileRunning { _ in
                try await self.servers[2].whileRunning { _ in try await body(self) }
            }
        }
    }
}
