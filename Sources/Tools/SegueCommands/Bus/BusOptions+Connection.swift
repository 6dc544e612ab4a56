internal import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQEventBus

extension BusOptions {
    /// Short enough for a person to wait, and long enough for a stack that is just coming up.
    private static let connectTimeout: Duration = .seconds(3)

    /// Connects, runs `body`, and closes in order.
    ///
    /// - Throws: ``CommandError`` when no broker answers or the address is wrong, and what `body` throws.
    func withBus<Result: Sendable>(
        _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let location = try location()
        let address = location.address
        let bus = try bus(at: location)
        return try await bus.whileOpen {
            try await waitForBroker(bus, at: address)
            return try await body(bus)
        }
    }

    private func bus(at location: Location) throws -> ZeroMQEventBus {
        do {
            let source = "segue/\(UUID().uuidString.lowercased().prefix(8))"
            return try ZeroMQEventBus(address: location.address, source: source, logger: Logger(label: "segue"))
        } catch let error as BusError where error.code == .address {
            throw CommandError(
                code: error.code.rawValue, "\(location.origin): \(error.message)", status: .configuration)
        }
    }

    private func waitForBroker(_ bus: ZeroMQEventBus, at address: String) async throws {
        do {
            try await bus.waitUntilConnected(timeout: Self.connectTimeout)
        } catch let error as BusError where error.code == .unavailable {
            throw CommandError(
                code: error.code.rawValue, error.message, recovery: "start one with 'segue up'", status: .unavailable)
        }
    }
}
