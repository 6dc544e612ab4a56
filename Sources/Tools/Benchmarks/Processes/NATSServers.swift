internal import Compose
internal import Foundation
internal import Support

/// Servers of NATS with their own ports and files on this machine.
struct NATSServers: Sendable {
    private struct Server: Sendable {
        let name: String
        let port: LoopbackPort
        let routePort: LoopbackPort
        let folder: String
    }

    private let servers: [Server]
    private let durability: BenchmarkDurability

    /// - Parameter count: The number of servers. More than one are a cluster.
    init(_ count: Int, in directory: String, _ durability: BenchmarkDurability) throws {
        do {
            servers = try (0..<count).map { index throws(ComposeError) in
                let name = "server-\(index + 1)"
                return Server(
                    name: name, port: try LoopbackPort(for: name), routePort: try LoopbackPort(for: "\(name)-routes"),
                    folder: "\(directory)/\(name)")
            }
        } catch {
            throw BenchmarkError(error.message)
        }
        self.durability = durability
    }

    /// `HOST:PORT` of each server.
    var hosts: [String] { servers.map { "127.0.0.1:\($0.port.number)" } }

    /// The size of all files that the servers have stored, in bytes.
    var storeSize: Int {
        servers.reduce(0) { size, server in
            let files = FileManager.default.enumerator(
                at: URL(fileURLWithPath: "\(server.folder)/store"), includingPropertiesForKeys: [.fileSizeKey])
            return (files?.allObjects ?? []).reduce(size) {
                $0 + ((($1 as? URL).flatMap { try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }) ?? 0)
            }
        }
    }

    /// Runs the servers while `body` runs. They accept connections when it begins.
    /// - Throws: ``BenchmarkError`` if a server does not start, and the errors of `body`.
    func run<Result: Sendable>(_ body: ([RunningProcess]) async throws -> Result) async throws -> Result {
        if servers.isEmpty { return try await body([]) }
        return try await run(try Executables.natsServer, [], body)
    }

    private func run<Result: Sendable>(
        _ program: String, _ running: [RunningProcess], _ body: ([RunningProcess]) async throws -> Result
    ) async throws -> Result {
        guard running.count < servers.count else { return try await body(running) }
        let server = servers[running.count]
        try write(server)
        return try await ReadyProcess.run(
            program, ["-c", "\(server.folder)/nats.conf"], log: "\(server.folder)/log",
            untilReady: { await Self.isReady(server) },
            { try await run(program, running + [$0], body) })
    }

    private func write(_ server: Server) throws {
        let routes = servers.map { "\"nats://127.0.0.1:\($0.routePort.number)\"" }.joined(separator: ", ")
        let cluster =
            servers.count > 1
            ? "cluster { name: bench, listen: \"127.0.0.1:\(server.routePort.number)\", routes: [\(routes)] }" : ""
        let configuration = """
            server_name: \(server.name)
            listen: "127.0.0.1:\(server.port.number)"
            max_payload: 9MB
            jetstream { store_dir: "\(server.folder)/store", sync_interval: "\(durability.syncInterval)" }
            ports_file_dir: "\(server.folder)"
            log_file: "\(server.folder)/log"
            \(cluster)

            """
        do {
            // A server that was started before has left a file with its ports.
            for file in (try? FileManager.default.contentsOfDirectory(atPath: server.folder)) ?? []
            where file.ends(with: portsSuffix) {
                try FileManager.default.removeItem(atPath: "\(server.folder)/\(file)")
            }
            try FileManager.default.createDirectory(atPath: server.folder, withIntermediateDirectories: true)
            try configuration.write(toFile: "\(server.folder)/nats.conf", atomically: true, encoding: .utf8)
        } catch {
            throw BenchmarkError("cannot write to \(server.folder): \(error.localizedDescription)")
        }
    }

    /// Waits for the file that the server writes when it accepts connections.
    /// - Returns: False if the task is cancelled.
    private static func isReady(_ server: Server) async -> Bool {
        repeat {
            let files = try? FileManager.default.contentsOfDirectory(atPath: server.folder)
            if files?.contains(where: { $0.ends(with: portsSuffix) }) == true { return true }
        } while (try? await Task.sleep(for: .milliseconds(5))) != nil
        return false
    }
}

/// The end of the name of a file with the ports of a server.
private let portsSuffix = ".ports"

extension BenchmarkDurability {
    /// The value of `sync_interval` of nats-server. `2m` is its default.
    var syncInterval: String { self == .power ? "always" : "2m" }
}

extension Executables {
    /// The path of nats-server: beside the executables or above their folder, where the tests install it, or in `PATH`.
    /// - Throws: ``BenchmarkError`` if there is none.
    static var natsServer: String {
        get throws {
            let folder = URL(fileURLWithPath: try peer).deletingLastPathComponent()
            let above = (0...2).map { (0..<$0).reduce(folder) { url, _ in url.deletingLastPathComponent() }.path }
            let search = ProcessInfo.processInfo.environment["PATH"] ?? ""
            for directory in above + search.split(scalar: ":").map(String.init) {
                let path = "\(directory)/nats-server"
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
            throw BenchmarkError(
                "there is no 'nats-server' in PATH; install version 2.12.1 or newer, or run 'scripts/test-setup'")
        }
    }
}
