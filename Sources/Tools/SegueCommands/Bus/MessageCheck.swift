internal import AppContract
internal import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import MessageSchema
internal import Monitor
internal import Navigation
internal import Support

/// The option that turns off the check of outgoing data.
struct CheckOptions: ParsableArguments, Sendable {
    @Flag(name: .customLong("no-check"), help: "Send the data without checking it against the services' contracts.")
    var isOff = false

    /// The check of outgoing data. Nil if `--no-check` is given.
    func check(on bus: any EventBus) async throws -> MessageCheck? {
        isOff ? nil : try await MessageCheck(on: bus)
    }
}

/// Checks data against the contracts of the services on the bus. A message that no contract contains is not checked.
struct MessageCheck {
    private let contract: AppContract

    /// Reads the contracts. A contract that cannot be read is reported on standard error and not used.
    init(on bus: any EventBus) async throws {
        let found = try await BusContract.read(bus)
        await Console.error.tell(found.unreadable)
        contract = found.contract
    }

    /// - Throws: ``CommandError`` that lists the invalid fields.
    func check(_ data: Data, of type: MessageType) throws(CommandError) {
        guard let schema = contract.messages[type]?.data, let value = try? JSONValue(parsing: data) else { return }
        let problems = schema.problems(with: value)
        if problems.isEmpty { return }
        throw CommandError(
            code: "invalid-data", "\(type): \(problems.map(\.description).joined(separator: ", "))".printable,
            recovery: "correct it, or use --no-check", status: .dataError)
    }
}
