import Broker
import EventBus
import Foundation
import GRDB
import Logging
import ZeroMQEventBus

/// A broker in this process, on sockets and with a journal of its own.
struct TestBroker {
    let directory: URL
    var address: String { "ipc://\(directory.path)" }
    var journal: String { directory.appendingPathComponent("journal.sqlite").path }

    /// - Parameter body: gets a broker that does not run yet: see ``run(_:)``.
    static func withDirectory<Result>(_ body: (TestBroker) async throws -> Result) async throws -> Result {
        let name = "segue-\(UUID().uuidString.prefix(8))"
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(TestBroker(directory: directory))
    }

    var configuration: BrokerConfiguration { BrokerConfiguration(address: address, journal: journal) }

    /// Runs a broker for as long as `body` does.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await whileRunning(body) { ready in
            try await Broker(configuration, logger: .quiet).run { ready() }
        }
    }

    func deleteJournal() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: journal + suffix)
        }
    }

    /// As if every producer had been silent for seven days. While no broker runs.
    func forgetProducers() throws {
        try DatabaseQueue(path: journal).write {
            try $0.execute(sql: "DELETE FROM producers; UPDATE messages SET producer = NULL")
        }
    }

    func bus(_ source: String = "test/1") throws -> ZeroMQEventBus {
        try ZeroMQEventBus(address: address, source: source, logger: .quiet)
    }
}

/// Runs `body` once `service` has called its argument, and ends the service after it.
func whileRunning<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result,
    _ service: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void
) async throws -> Result {
    let (readiness, ready) = AsyncStream.makeStream(of: Void.self)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            do {
                try await service { ready.yield() }
            } catch is CancellationError {}
            return nil
        }
        group.addTask {
            for await _ in readiness { break }
            return try await body()
        }
        while let result = try await group.next() {
            guard let result else { continue }
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
        throw BusError(.closed, "the service ended first")
    }
}

extension Logger {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
