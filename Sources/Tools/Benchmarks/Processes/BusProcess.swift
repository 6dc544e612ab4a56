internal import BusKeys
internal import Foundation
internal import NATS
internal import NATSLayout
internal import Support

/// The kind of the bus that is measured.
enum MeasuredBus: Hashable, Sendable {
    /// A broker with sockets in a folder.
    /// - Parameter hasKeys: True to encrypt all connections, as on a network.
    case broker(hasKeys: Bool = false)
    /// New servers of NATS on this machine.
    /// - Parameter servers: The number of servers, which is also the number of copies of each message.
    case nats(servers: Int)
    /// Servers of NATS that are running.
    /// - Parameter replicas: The number of copies of each message.
    case running(NATSAddress, replicas: Int)

    /// The scheme of the bus's address.
    var scheme: String { isNATS ? "nats" : "ipc" }

    var isNATS: Bool { if case .broker = self { false } else { true } }

    var hasKeys: Bool { self == .broker(hasKeys: true) }

    /// The number of servers that store each message.
    var replicas: Int {
        switch self {
        case .broker: 1
        case .nats(let servers): servers
        case .running(_, let replicas): replicas
        }
    }
}

/// A bus of its own for a benchmark: a broker, or a steward with servers of NATS.
struct BusProcess: Sendable {
    let directory: String
    let kind: MeasuredBus
    /// The address of the bus. On NATS it names one server, so that all processes use the same one.
    let address: String
    /// The address with all servers of the bus.
    let fullAddress: String
    /// Nil if the benchmark does not start servers.
    private let servers: NATSServers?
    private let durability: BenchmarkDurability
    /// Nil for a bus without keys.
    private let keys: KeyFolder?

    private static let peerName = "bench"

    init(_ scratch: Scratch, kind: MeasuredBus, durability: BenchmarkDurability, name: String = "broker") throws {
        directory = try scratch.folder(name)
        self.kind = kind
        keys = kind.hasKeys ? try KeyFolder.create("\(directory)/keys") : nil
        _ = try keys?.add(Self.peerName)
        self.durability = durability
        let servers: NATSServers?
        switch kind {
        case .broker:
            servers = nil
            address = "ipc://\(directory)/bus"
            fullAddress = address
        case .nats(let count):
            let own = try NATSServers(count, in: directory, durability)
            servers = own
            address = "nats://\(own.hosts[0])"
            fullAddress = "nats://\(own.hosts.joined(separator: ","))"
        case .running(let given, _):
            servers = nil
            // A namespace of its own, so that the benchmark does not touch another bus on these servers.
            let namespace = "BENCH_\(UUID().uuidString.prefix(8))"
            let hosts = given.urls.map { $0.removing(prefix: "nats://") ?? $0[...] }
            address = "nats://\(hosts[0])/\(namespace)"
            fullAddress = "nats://\(hosts.joined(separator: ","))/\(namespace)"
        }
        self.servers = servers
    }

    var isNATS: Bool { kind.isNATS }

    /// The processes of a bus that is running.
    struct Running: Sendable {
        let processes: [RunningProcess]
        /// The time from the start of the first process until the bus was ready.
        let startTime: Duration
    }

    /// Runs the bus while `body` runs.
    /// - Throws: ``BenchmarkError`` if a process does not become ready, and the errors of `body`.
    func run<Result: Sendable>(_ body: (Running) async throws -> Result) async throws -> Result {
        let begin = ContinuousClock.now
        if let servers {
            return try await servers.run { servers in
                try await runBroker { broker in
                    try await body(Running(processes: [broker] + servers, startTime: .now - begin))
                }
            }
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(
                try await runBroker { broker in
                    try await body(Running(processes: [broker], startTime: .now - begin))
                })
        } catch {
            result = .failure(error)
        }
        if case .running(let given, _) = kind {
            // A separate task is not cancelled with this one, and can still remove the streams.
            try await Task { try await removeStreams(given) }.value
        }
        return try result.get()
    }

    private func runBroker<Result: Sendable>(
        _ body: (RunningProcess) async throws -> Result
    ) async throws -> Result {
        var arguments = ["--bus", fullAddress]
        if isNATS {
            arguments += ["--replicas", "\(kind.replicas)"]
        } else {
            arguments += ["--journal", "\(directory)/journal.sqlite", "--durability", durability.rawValue]
        }
        return try await ReadyProcess(
            name: "broker", arguments: arguments, directory: directory,
            keyFile: keys?.file(of: KeyFile.brokerName)
        ).run(body)
    }

    /// Deletes the streams of the benchmark from servers that it has not started.
    private func removeStreams(_ given: NATSAddress) async throws {
        let names = StreamNames(try NATSAddress(fullAddress).namespace).all
        let connection = NATSConnection(NATSOptions(servers: given.urls, name: "benchmark"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connection.run() }
            group.addTask {
                let jetStream = JetStream(connection)
                _ = try await connection.waitUntilConnected(timeout: .seconds(10))
                for name in names {
                    do {
                        try await jetStream.deleteStream(name)
                    } catch let error as JetStreamError where error.code == .streamNotFound {
                        continue
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// A process that fills the journal. All messages have the same subject.
    func filler() -> PeerProcess {
        peer(isNATS ? .jetStreamFiller : .journalFiller)
    }

    /// A process that uses the bus.
    func peer(_ role: PeerRole, connections: Int = 1) -> PeerProcess {
        PeerProcess(role, address, connections: connections, keyFile: keys?.file(of: Self.peerName))
    }

    /// The size of the journal's files, in bytes; of all servers together. 0 for servers that the benchmark has not
    /// started.
    var journalSize: Int {
        if isNATS { return servers?.storeSize ?? 0 }
        return ["", "-wal", "-shm"].reduce(0) { size, suffix in
            let path = "\(directory)/journal.sqlite\(suffix)"
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return size + (attributes?[.size] as? Int ?? 0)
        }
    }
}

/// The processes of a baseline that exchanges messages without the bus: bare libzmq with a proxy, or C on libnats with
/// the servers of the bus.
struct BareBus: Sendable {
    enum Role {
        case echo, client, publisher, subscriber
    }

    /// The processes that must run beside the peers.
    let proxies: [PeerProcess]
    private let address: String
    private let isNATS: Bool

    init(_ scratch: Scratch, beside bus: BusProcess) throws {
        isNATS = bus.isNATS
        address = isNATS ? bus.address : try scratch.folder("proxy")
        proxies = isNATS ? [] : [PeerProcess(.bareProxy, address)]
    }

    /// The baseline in results.
    var description: String {
        isNATS ? "C on libnats: the same messages on the same servers" : "bare libzmq: PUB, XSUB/XPUB proxy, SUB"
    }

    func peer(_ role: Role, connections: Int = 1) -> PeerProcess {
        let role: PeerRole =
            switch role {
            case .echo: isNATS ? .jetStreamEcho : .bareEcho
            case .client: isNATS ? .jetStreamClient : .bareClient
            case .publisher: isNATS ? .jetStreamPublisher : .barePublisher
            case .subscriber: isNATS ? .jetStreamSubscriber : .bareSubscriber
            }
        return PeerProcess(role, address, connections: connections)
    }

    /// One publisher and its subscribers.
    func feed(_ subscribers: [PeerProcess], connections: Int = 1) -> Feed {
        Feed(
            publisher: peer(.publisher), subscribers: subscribers, connections: connections,
            isConfirmed: isNATS, isBare: true)
    }
}
