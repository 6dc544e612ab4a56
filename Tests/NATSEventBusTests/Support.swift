import BusConformance
import EventBus
import Logging
import NATS
import NATSEventBus
import NATSLayout
import NATSTestSupport
import Steward
import Support
import TestSupport
import Testing

/// Runs a suite with one server, in which each test has a namespace of its own.
struct SharedServer: SuiteTrait, TestScoping {
    @TaskLocal static var current: NATSServer?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let server = try NATSServer()
        let (hasStarted, isOver) = (Latch(), Latch())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { hasStarted.open() }
                try await server.whileRunning { _ in
                    hasStarted.open()
                    await isOver.waitUntilOpenOrCancelled()
                }
            }
            await hasStarted.waitUntilOpenOrCancelled()
            try await Self.$current.withValue(server) { try await function() }
            isOver.open()
            try await group.waitForAll()
        }
    }
}

extension SuiteTrait where Self == SharedServer {
    static var sharedServer: SharedServer { SharedServer() }
}

/// A namespace on a server of a test.
struct TestBus: Sendable {
    let server: NATSServer
    let namespace = "T" + String(UInt64.random(in: 0 ... .max), radix: 36)

    var address: String { "\(server.url)/\(namespace)" }
    var names: StreamNames { StreamNames(namespace) }

    func bus(_ source: String = "test/1", logger: Logger = .silent) throws -> NATSEventBus {
        try NATSEventBus(address: address, source: source, logger: logger)
    }

    /// Runs `body` with a connection of its own.
    func withJetStream<Result: Sendable>(
        _ body: @escaping @Sendable (JetStream) async throws -> Result
    ) async throws -> Result {
        try await JetStream.whileConnected(NATSOptions(servers: [server.url], name: "test"), body)
    }

    func makeStreams() async throws {
        try await NATSEventBusTests.makeStreams(namespace, NATSOptions(servers: [server.url], name: "test"))
    }

    /// Runs `body` with a bus.
    func whileOpen<Result: Sendable>(
        _ source: String = "test/1", logger: Logger = .silent,
        _ body: @escaping @Sendable (NATSEventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try bus(source, logger: logger)
        return try await bus.whileOpen { try await body(bus) }
    }

    /// A namespace with streams, on the server of the suite.
    static func make() async throws -> TestBus {
        let bus = TestBus(server: try #require(SharedServer.current))
        try await bus.makeStreams()
        return bus
    }
}

struct State: DocumentMessage {
    var value: String
}

/// Makes the streams of a namespace. With several replicas, the servers first need some time to find each other.
func makeStreams(_ namespace: String, _ options: NATSOptions, replicas: Int = 1) async throws {
    try await JetStream.whileConnected(options) { jetStream in
        while true {
            do {
                _ = try await JournalStreams(replicas: replicas).make(StreamNames(namespace), on: jetStream)
                return
            } catch let error where replicas > 1 && (error is JetStreamError || error is NATSError) {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
