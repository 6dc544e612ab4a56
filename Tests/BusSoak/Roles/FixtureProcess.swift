package import BusChecker
package import EventBus
internal import Foundation
internal import Glibc
package import Logging
internal import Synchronization
internal import SystemSupport
internal import ZeroMQEventBus

/// What all roles share: a connection, a history, a log on standard error.
package struct FixtureProcess: Sendable {
    package let name: String
    private let address: String
    private let history: HistoryLog
    private let logger: Logger

    /// The status of a consumer that another one has taken over from.
    package static let fenced: Int32 = 3

    /// - Throws: ``HistoryError``.
    package init(name: String, address: String, history: String) throws {
        self.name = name
        self.address = address
        self.history = try HistoryLog(path: history)
        logger = Logger(label: name) { StreamLogHandler.standardError(label: $0) }
    }

    /// Runs a role until it has ended by itself.
    /// - Returns: the process's exit status.
    package func run(
        _ role: @escaping @Sendable (any EventBus, HistoryLog, Logger) async throws -> Void
    ) async -> Int32 {
        do {
            let bus = try ZeroMQEventBus(address: address, source: "fixture/\(name)", logger: logger)
            try await bus.whileOpen { try await role(bus, history, logger) }
            return 0
        } catch {
            logger.error("ended", metadata: ["error": "\(error)"])
            return (error as? BusError)?.code == .fenced ? Self.fenced : 1
        }
    }

    /// Runs a role until it is asked to end (SIGTERM).
    /// - Returns: the process's exit status.
    package func runUntilStopped(
        _ role: @escaping @Sendable (any EventBus, HistoryLog, Logger) async throws -> Void
    ) async -> Int32 {
        guard case .value(let status) = try? await ShutdownSignals.run(until: [SIGTERM], { await run(role) }) else {
            return 0
        }
        return status
    }
}

/// Whether the process has been asked to end (SIGTERM).
final class StopFlag: Sendable {
    private let isSet = Mutex(false)

    var isStopping: Bool { isSet.withLock { $0 } }

    /// Runs `body` while it watches for the signal.
    static func watched(_ body: (StopFlag) async throws -> Void) async throws {
        let flag = StopFlag()
        let signals = ShutdownSignals.arrivals(of: [SIGTERM])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals { flag.isSet.withLock { $0 = true } }
            }
            defer { group.cancelAll() }
            try await body(flag)
        }
    }
}

/// Where a process writes down what it does, one line each, before the next thing happens.
///
/// Plain write(2): the kernel has the line then, and a kill -9 of the process does not take it back.
package final class HistoryLog: Sendable {
    private let path: String
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the file cannot be made.
    package init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HistoryError(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// - Throws: ``HistoryError`` unless all of it is written.
    package func write(_ lines: [HistoryLine]) throws {
        let bytes = Array(lines.map { "\($0)\n" }.joined().utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HistoryError(path: path, reason: String(cString: strerror(errno)))
        }
    }
}

/// A history that cannot be written: nothing that follows could be judged.
struct HistoryError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path) cannot be written: \(reason)" }
}
