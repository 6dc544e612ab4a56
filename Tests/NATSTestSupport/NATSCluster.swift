package import NATS

/// Three nats-servers with routes to each other, for streams with three replicas.
package final class NATSCluster: Sendable {
    package let servers: [NATSServer]
    /// The links between the servers, if they can be separated.
    private let links: [RouteLink]

    /// - Parameters:
    ///   - isSeparable: The routes lead through processes of their own, so that ``separate(_:)`` is possible.
    ///   - maximumStore: The limit of all streams on the disk of a server.
    ///   - prefixes: Programs that start the servers, by index.
    package init(
        isSeparable: Bool = false, maximumStore: String = "2GB", prefixes: [Int: [String]] = [:]
    ) throws {
        let ports = try NATSServer.freePorts(isSeparable ? 12 : 6)
        let clusterPorts = Array(ports[3..<6])
        // The routes of each server. Without links all have the same; a server recognises itself.
        var routes = Array(repeating: clusterPorts, count: 3)
        var links: [RouteLink] = []
        if isSeparable {
            routes = Array(repeating: [], count: 3)
            for (number, pair) in [(0, 1), (0, 2), (1, 2)].enumerated() {
                let (there, back) = (ports[6 + 2 * number], ports[7 + 2 * number])
                routes[pair.0].append(there)
                routes[pair.1].append(back)
                links.append(
                    RouteLink(
                        between: [pair.0, pair.1], ports: [there: clusterPorts[pair.1], back: clusterPorts[pair.0]]))
            }
        }
        self.links = links
        // Servers tell each other their addresses. Nothing listens at this one, so no route can avoid the links.
        let advertised = isSeparable ? #", advertise: "127.0.0.1:1""# : ""
        servers = try (0..<3).map { index in
            let urls = routes[index].map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
            return try NATSServer(
                name: "n\(index + 1)", port: ports[index],
                settings: """
                    cluster { name: test, listen: "127.0.0.1:\(clusterPorts[index])", routes: [\(urls)]\(advertised) }
                    """, maximumStore: maximumStore, prefix: prefixes[index] ?? [])
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
        try await whileLinked(links[...]) {
            try await self.servers[0].whileRunning { _ in
                try await self.servers[1].whileRunning { _ in
                    try await self.servers[2].whileRunning { _ in try await body(self) }
                }
            }
        }
    }

    private func whileLinked<Result: Sendable>(
        _ links: ArraySlice<RouteLink>, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let link = links.first else { return try await body() }
        return try await link.whileRunning { try await self.whileLinked(links.dropFirst(), body) }
    }

    // MARK: Leaders

    /// The server that leads a stream. Waits until there is one. Servers that are paused or do not run are not asked.
    package func leader(of stream: String) async throws -> NATSServer {
        while true {
            if let leader = try await leader(of: stream, accordingTo: servers) { return leader }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The server that leads a stream and is not `other`. Waits until there is one.
    package func leader(of stream: String, otherThan other: NATSServer) async throws -> NATSServer {
        while true {
            let asked = servers.filter { $0 !== other }
            if let leader = try await leader(of: stream, accordingTo: asked), leader !== other { return leader }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func leader(of stream: String, accordingTo asked: [NATSServer]) async throws -> NATSServer? {
        for server in asked where server.isAlive && !server.isPaused {
            let name = try? await JetStream.whileConnected(
                NATSOptions(servers: [server.url], name: "test"), timeout: .seconds(1)
            ) { try await $0.stream(stream).leader }
            try Task.checkCancellation()
            if let leader = self.server(named: name ?? nil) { return leader }
        }
        return nil
    }

    // MARK: Partitions

    /// Cuts the links of one server to the others. The bytes under way wait, as on a real network. Clients still reach
    /// all servers.
    package func separate(_ server: NATSServer) {
        forEachLink(of: server) { $0.pause() }
    }

    /// Ends a separation.
    package func join(_ server: NATSServer) {
        forEachLink(of: server) { $0.resume() }
    }

    private func forEachLink(of server: NATSServer, _ action: (RouteLink) -> Void) {
        guard let index = servers.firstIndex(where: { $0 === server }) else { return }
        links.filter { $0.servers.contains(index) }.forEach(action)
    }
}

extension JetStream {
    /// Runs `body` with a connection of its own.
    package static func whileConnected<Result: Sendable>(
        _ options: NATSOptions, timeout: Duration = .seconds(5),
        _ body: @escaping @Sendable (JetStream) async throws -> Result
    ) async throws -> Result {
        let connection = NATSConnection(options)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await connection.run()
                return nil
            }
            group.addTask {
                try await connection.waitUntilConnected(timeout: .seconds(30))
                return try await body(JetStream(connection, timeout: timeout))
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}
