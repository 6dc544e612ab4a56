package import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQEventBus

extension Arena {
    /// Gives `body` a connection of the test itself.
    package func withBus<Result: Sendable>(
        deadline: Duration = Arena.deadline, _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let bus = try ZeroMQEventBus(address: self.bus, source: "test/\(UUID().uuidString)", logger: logger)
        return try await bus.whileOpen {
            try await self.within(deadline, "the bus did not do what it should") { try await body(bus) }
        }
    }
}
