internal import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor

/// The option that turns off the check of outgoing data.
struct CheckOptions: ParsableArguments, Sendable {
    @Flag(name: .customLong("no-check"), help: "Send the data without checking it against the services' contracts.")
    var isOff = false

    /// The check of outgoing data. Nil if `--no-check` is given.
    func check(on bus: EventBus) async throws -> MessageCheck? {
        isOff ? nil : try await MessageCheck(on: bus)
    }
}

/// Checks messages against the contracts and presences of the processes on the bus, as
/// ``KnownMessages/mistake(in:of:)`` does.
struct MessageCheck {
    private let messages: KnownMessages

    /// Reads the contracts and presences. A contract that cannot be read is reported on standard error and not used.
    init(on bus: EventBus) async throws {
        messages = try await KnownMessages.reported(on: bus)
    }

    /// - Throws: ``CommandError`` if no process on the bus knows the type of a command or event, or if fields of the
    ///   data are invalid.
    func check(_ data: Data, of type: MessageType) throws(CommandError) {
        guard let mistake = messages.mistake(in: data, of: type) else { return }
        let recovery =
            switch mistake.code {
            case .unknownType:
                mistake.recovery.map { "\($0) To send it nevertheless, use --no-check" }
                    ?? "see 'segue services', or use --no-check"
            case .invalidData: "correct it, or use --no-check"
            case .unreadableContract: "build its service with this version of Segue, or use --no-check"
            }
        throw CommandError(
            code: mistake.code.rawValue, mistake.message, recovery: recovery, status: .dataError)
    }
}

extension KnownMessages {
    /// Reads the contracts and presences. Reports contracts that cannot be read on standard error.
    static func reported(on bus: EventBus) async throws -> KnownMessages {
        let messages = try await KnownMessages(on: bus)
        await Console.error.tell(messages.unreadable)
        return messages
    }
}
