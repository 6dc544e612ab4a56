internal import Compose
package import NATS
internal import Support

/// Three nats-servers with routes to each other, for streams with three replicas; or one server alone.
package final class NATSCluster: Sendable {
    package let servers: [NATSServer]
    /// The links between the servers, if they can be separated.
    private let links: [RouteLink]
    /// The ports for the routes, which stay reserved.
    private let clusterPorts: [LoopbackPort]

    /// One server without routes.
    package init(single server: NATSServer) {
        (servers, links, clusterPorts) = ([server], [], [])
    }

    /// - Parameters:
    ///   - isSeparable: The routes lead through processes of their own, so that ``separate(_:)`` is possible.
    ///   - maximumStore: The limit of all streams on the disk of a server.
    ///   - diskSize: The size of a disk of its own for the first server, such as `64m`.
    package init(
        isSeparable: Bool = false, maximumStore: String = "3GB", diskSize: String? = nil
    ) throws {
        let clusterPorts = try (0..<3).map { try LoopbackPort(for: "routes of n\($0 + 1)") }
        let links =
            isSeparable ? try [[0, 1], [0, 2], [1, 2]].map { try RouteLink(between: $0, ports: clusterPorts) } : []
        self.links = links
        self.clusterPorts = clusterPorts
        // Servers tell each other their addresses. Nothing listens at this one, so no route can avoid the links.
        let advertised = isSeparable ? #", advertise: "127.0.0.1:1""# : ""
        servers = try (0..<3).map { index in
            // Without links all servers have the same routes; a server recognises itself.
            let routes = isSeparable ? links.flatMap { $0.ports(from: index) } : clusterPorts.map(\.number)
            let urls = routes.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
            return try NATSServer(
                name: "n\(index + 1)",
                settings: """
                    cluster { name: test, listen: "127.0.0.1:\(clusterPorts[index].number)", routes: [\(urls)]\(advertised) }
                    """, maximumStore: maximumStore, diskSize: index == 0 ? diskSize : nil)
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
        try await whileLinked(links[...]) { try await self.whileServing(self.servers[...], body) }
    }

    private func whileServing<Result: Sendable>(
        _ servers: ArraySlice<NATSServer>, _ body: @escaping @Sendable (NATSCluster) async throws -> Result
    ) async throws -> Result {
        guard let server = servers.first else { return try await body(self) }
        return try await server.whileRunning { _ in try await self.whileServing(servers.dropFirst(), body) }
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
        if servers.count == 1 { return servers[0] }
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

    /// Waits until every server has all messages of some streams. Before that, the loss of another server can leave the
    /// streams without a majority.
    package func waitUntilCurrent(_ streams: [String]) async throws {
        for stream in streams {
            while try await !isCurrent(stream) { try await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private func isCurrent(_ stream: String) async throws -> Bool {
        let leader = try await leader(of: stream)
        let response = try? await JetStream.whileConnected(
            NATSOptions(servers: [leader.url], name: "test"), timeout: .seconds(1)
        ) { try await $0.call("STREAM.INFO.\(stream)") }
        try Task.checkCancellation()
        let others = response?["cluster"]?["replicas"]?.arrayValue ?? []
        return others.count == servers.count - 1 && others.allSatisfy { $0["current"]?.boolValue == true }
    }

    /// Lets a server lead a stream, without a fault.
    package func handLeadership(of stream: String, to server: NATSServer) async throws {
        let preferred: JSONValue = ["placement": ["preferred": .string(server.name)]]
        while try await leader(of: stream) !== server {
            _ = try? await JetStream.whileConnected(NATSOptions(servers: urls, name: "test")) {
                try await $0.call("STREAM.LEADER.STEPDOWN.\(stream)", preferred)
            }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(500))
        }
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
        links.filter { $0.leads(to: index) }.forEach(action)
    }
}

extension JetStream {
    /// Runs `body` with a connection of its own.
    package static func whileConnected<Result: Sendable>(
        _ options: NATSOptions, timeout: Duration = .seconds(5),
        _ body: @escaping @Sendable (JetStream) async throws -> Result
    ) async throws -> Result {
        let connection = NATSConnection(options)
        return try await during {
            try await connection.run()
        } _: {
            try await connection.waitUntilConnected(timeout: .seconds(30))
            return try await body(JetStream(connection, timeout: timeout))
        }
    }
}

/// Runs `work` while `body` runs. An error of `work` after the end of `body` is dropped: a connection that is cancelled
/// can fail.
package func during<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Void, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await work()
            return nil
        }
        group.addTask { try await body() }
        defer { group.cancelAll() }
        while let result = try await group.next() {
            if let result { return result }
        }
        throw CancellationError()
    }
}
