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

/// Checks messages against the contracts and presences of the processes on the bus. A command or event that no process
/// knows is refused, unless there is no contract and no presence on the bus. Data that no contract describes is not
/// checked.
struct MessageCheck {
    private let contract: AppContract
    private let known: Set<String>

    /// Reads the contracts and presences. A contract that cannot be read is reported on standard error and not used.
    init(on bus: any EventBus) async throws {
        let messages = try await KnownMessages(on: bus)
        (contract, known) = (messages.contract, messages.types)
    }

    /// - Throws: ``CommandError`` if no process on the bus knows the type of a command or event, or if fields of the
    ///   data are invalid.
    func check(_ data: Data, of type: MessageType) throws(CommandError) {
        if [.command, .event].contains(type.kind), !known.isEmpty, !known.contains(type.description) {
            let hint = Spelling.nearest(to: type.description, in: known).map { "did you mean \($0)?" }
            throw CommandError(
                code: "unknown-type", "no process on the bus knows \(type)".printable,
                recovery: hint.map { "\($0) To send it nevertheless, use --no-check" }
                    ?? "see 'segue services', or use --no-check", status: .dataError)
        }
        guard let schema = contract.messages[type]?.data, let value = try? JSONValue(parsing: data) else { return }
        let problems = schema.problems(with: value)
        if problems.isEmpty { return }
        throw CommandError(
            code: "invalid-data", "\(type): \(problems.map(\.description).joined(separator: ", "))".printable,
            recovery: "correct it, or use --no-check", status: .dataError)
    }
}
