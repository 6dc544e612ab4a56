package import EventBus
internal import Foundation
package import Logging
internal import ZeroMQEventBus

/// What all roles share: a connection, a history, a log on standard error.
package struct FixtureProcess: Sendable {
    package let name: String
    let address: String
    let history: HistoryLog
    let logger: Logger

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
        await withTaskGroup(of: Int32.self) { group in
            group.addTask { await run(role) }
            group.addTask {
                await StopFlag.signal()
                return 0
            }
            let status = await group.next() ?? 0
            group.cancelAll()
            return status
        }
    }
}
