package import EventBus
internal import Foundation
internal import Glibc
package import Logging
internal import ZeroMQEventBus

/// Subscribes to all events and then does not read them: it blocks the thread of its bus until somebody opens a named pipe
/// for writing. Then it reads as many as it was told, and logs that it has.
package enum StalledRole {
    /// - Throws: ``BusError``.
    package static func run(
        count: Int, pipe: String, on bus: any EventBus, logger: Logger
    ) async throws {
        try await bus.withSubscription(to: [.kind(.event)], from: .now) { messages in
            logger.info("subscribed")
            if let executor = (bus as? ZeroMQEventBus)?.taskExecutor {
                await withTaskExecutorPreference(executor) { await block(until: pipe) }
            }
            logger.info("reading")
            var received = 0
            for try await _ in messages {
                received += 1
                if received == count { break }
            }
            logger.info("received \(received)")
            try await Task.sleep(for: .seconds(86400))
        }
    }

    /// Opening a pipe waits for its other side.
    @concurrent
    private static func block(until pipe: String) async {
        _ = try? FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).close()
    }
}
