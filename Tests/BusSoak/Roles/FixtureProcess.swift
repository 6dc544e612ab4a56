package import BusChecker
package import EventBus
internal import Foundation
internal import Glibc
package import Logging
internal import Synchronization
internal import SystemSupport
internal import Transports

/// The common parts of all roles: a connection, a history and a log on standard error.
package struct FixtureProcess: Sendable {
    package let name: String
    private let address: String
    private let history: HistoryLog
    private let logger: Logger

    /// The exit status of a consumer from which another one has taken over.
    package static let fenced: Int32 = 3

    /// - Throws: ``HistoryError``.
    package init(name: String, address: String, history: String) throws {
        self.name = name
        self.address = address
        self.history = try HistoryLog(path: history)
        logger = Logger(label: name) { StreamLogHandler(label: $0, stream: StandardError()) }
    }

    /// Runs a role until it ends.
    /// - Returns: The exit status of the process.
    package func run(
        _ role: @escaping @Sendable (EventBus, HistoryLog, Logger) async throws -> Void
    ) async -> Int32 {
        do {
            let bus = try BusFactory.standard.bus(at: address, source: "fixture/\(name)", logger: logger)
            try await bus.whileOpen { try await role(bus, history, logger) }
            return 0
        } catch {
            logger.error("ended", metadata: ["error": "\(error)"])
            return (error as? BusError)?.code == .fenced ? Self.fenced : 1
        }
    }

    /// Runs a role until it is asked to end (SIGTERM).
    /// - Returns: The exit status of the process.
    package func runUntilStopped(
        _ role: @escaping @Sendable (EventBus, HistoryLog, Logger) async throws -> Void
    ) async -> Int32 {
        let ending = try? await ShutdownSignals.run(until: [SIGTERM]) { await run(role) }
        return if case .value(let status)? = ending { status } else { 0 }
    }
}

/// Indicates whether the process was asked to end (SIGTERM).
final class StopFlag: Sendable {
    private let isSet = Mutex(false)

    var isStopping: Bool { isSet.withLock { $0 } }

    /// Runs `body` while watching for the signal.
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

/// The file in which a process records its actions, one line for each, before the next action.
///
/// It uses write(2) directly: the kernel then has the line, and a kill -9 of the process does not lose it.
package final class HistoryLog: Sendable {
    private let path: String
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the file cannot be created.
    package init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HistoryError(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// - Throws: ``HistoryError`` if the line is not written completely.
    package func write(_ lines: [HistoryLine]) throws {
        let bytes = Array(lines.map { "\($0)\n" }.joined().utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HistoryError(path: path, reason: String(cString: strerror(errno)))
        }
    }
}

/// A history cannot be opened or written, so the rest of the test cannot be checked.
struct HistoryError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path) cannot be opened or written: \(reason)" }
}
