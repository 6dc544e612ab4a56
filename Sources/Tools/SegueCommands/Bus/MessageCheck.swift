internal import AppContract
internal import Contracts
internal import EventBus
internal import Foundation
internal import MessageSchema
internal import Monitor
internal import Navigation

/// Holds data to what the services on the bus say that their messages carry. Of a message that none of them has told of
/// nothing is known, and nothing is said.
struct MessageCheck {
    private let contract: AppContract

    /// Names the contracts that cannot be read on standard error: what these say is not checked.
    init(on bus: any EventBus) async throws {
        let found = try await BusContract.read(bus)
        await Console.error.tell(found.unreadable)
        contract = found.contract
    }

    /// - Throws: ``CommandError`` that names every field that is wrong, and what was perhaps meant.
    func check(_ data: Data, of type: MessageType) throws(CommandError) {
        guard let schema = contract.messages[type]?.data, let value = try? JSONValue(parsing: data) else { return }
        let problems = schema.problems(with: value)
        if problems.isEmpty { return }
        throw CommandError(
            code: "invalid-data", "\(type): \(problems.map(\.description).joined(separator: ", "))".printable,
            recovery: "--no-check sends it all the same", status: .dataError)
    }
}
