import Broker
import BusKeys
import EventBus
import Foundation
import GRDB
import Logging
import Support
import Synchronization
import SystemSupport
import TestSupport
import ZeroMQEventBus

/// A broker in this process, with its own sockets and journal.
struct TestBroker {
    let directory: URL
    var address: String { port.map { "tcp://127.0.0.1:\($0)" } ?? "ipc://\(directory.path)" }
    /// Nil for a bus over `ipc://`.
    var port: Int?
    /// The maximum number of connections; nil for as many as possible.
    var connectionLimit: Int?
    var userLimits = UserLimits()
    /// True if a network address may be used without keys.
    var isInsecure = false
    /// Nil for a bus without keys.
    var keys: KeyFolder?
    var journal: String { directory.appendingPathComponent("journal.sqlite").path }

    /// - Parameter body: Receives a broker that does not run yet, see ``run(_:)``.
    static func withDirectory<Result>(_ body: (TestBroker) async throws -> Result) async throws -> Result {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        return try await body(TestBroker(directory: scratch.url))
    }

    /// Runs `body` with a broker that does not run yet, and accepts the keys of `names`.
    static func withKeys<Result>(
        of names: [String], _ body: (TestBroker, KeyFolder) async throws -> Result
    ) async throws -> Result {
        try await withDirectory { broker in
            var broker = broker
            let keys = try KeyFolder.create(broker.directory.appendingPathComponent("keys").path)
            for name in names { _ = try keys.add(name) }
            broker.keys = keys
            return try await body(broker, keys)
        }
    }

    var configuration: BrokerConfiguration {
        var configuration = BrokerConfiguration(address: address, journal: journal, keys: keys)
        configuration.isInsecure = isInsecure
        configuration.connectionLimit = connectionLimit
        configuration.userLimits = userLimits
        return configuration
    }

    /// Calls `body` with this broker on free ports. It tries random ones, because a check for free ports would be a race.
    func onPort(_ body: (TestBroker) async throws -> Void) async throws {
        for attempt in 1...20 {
            var broker = self
            // Below the ports that the kernel gives to outgoing connections.
            broker.port = Int.random(in: 5_000..<16_000) * 2
            broker.isInsecure = keys == nil
            do {
                return try await body(broker)
            } catch let error as BusError where error.code == .address && attempt < 20 {
                continue
            }
        }
    }

    /// Runs a broker for as long as `body` runs.
    func run<Result: Sendable>(
        logger: Logger = .silent, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await whileRunning(body) { ready in
            try await Broker(configuration, logger: logger).run { ready() }
        }
    }

    /// Waits until the audit log contains a text.
    func waitForAudit(_ text: String) async throws {
        let file = directory.appendingPathComponent("audit.log")
        let changes = try DirectoryWatch(path: directory.path)
        while (try? String(contentsOf: file, encoding: .utf8))?.contains(text) != true {
            _ = await changes.wait()
            try Task.checkCancellation()
        }
    }

    /// Copies the journal. Call it while no broker runs.
    func saveJournal() throws { try copy(from: journal, to: journal + "-saved") }

    /// Replaces the journal by the copy. Call it while no broker runs.
    func putBackJournal() throws {
        deleteJournal()
        try copy(from: journal + "-saved", to: journal)
    }

    private func copy(from source: String, to target: String) throws {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: target + suffix)
        }
    }

    func deleteJournal() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: journal + suffix)
        }
    }

    /// Makes the journal forget all producers, as if they had been silent for seven days. Call it while no broker runs.
    func forgetProducers() throws {
        try DatabaseQueue(path: journal).write {
            try $0.execute(sql: "DELETE FROM producers; UPDATE messages SET producer = NULL")
        }
    }

    /// - Parameter name: The owner of the key, on a bus with keys.
    func bus(_ source: String = "test/1", key name: String = "test") throws -> ZeroMQEventBus {
        try ZeroMQEventBus(
            address: address, source: source, keyFile: keys?.file(of: name), isInsecure: isInsecure, logger: .silent)
    }
}

/// Starts `service`, runs `body` when the service has called its argument, then ends the service.
func whileRunning<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result,
    _ service: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void
) async throws -> Result {
    let ready = Latch()
    return try await withBackground([{ try await service(ready.open) }]) {
        try await ready.waitUntilOpen()
        return try await body()
    }
}

extension ZeroMQEventBus {
    /// Waits until a condition is true.
    func waitUntil(_ isTrue: @Sendable (isolated ZeroMQEventBus) -> Bool) async {
        while !isTrue(self) { await Task.yield() }
    }
}

extension ZeroMQEventBus {
    func publish(numbers: Range<Int>, batch: Int = 100) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: batch) {
            let end = min(start + batch, numbers.upperBound)
            try await publish(Batch((start..<end).map { try Envelope(Counted(number: $0), source: source) }))
        }
    }
}
