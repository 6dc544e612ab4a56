import Contracts
import EventBus
import TestSupport

extension EventBus {
    /// Sends a command with the device of a person as its origin.
    @discardableResult
    func tap(_ command: some CommandMessage, in session: String = Session.default) async throws -> Envelope {
        try await send(command, subject: session, origin: Origin(platform: "ios", device: "phone", instance: "s1"))
    }

    /// Waits for a message of a type with the same correlation as `cause`, and returns the first one.
    func outcome<M: Message>(
        of cause: Envelope, _ type: M.Type = M.self, where condition: (M) -> Bool = { _ in true }
    ) async throws -> M {
        try await withSubscription(to: [.type(type)], from: .beginning) { messages in
            for try await message in messages where message.attributes.correlationID == cause.attributes.correlationID {
                let message = try message.decode(M.self)
                if condition(message) { return message }
            }
            throw CancellationError()
        }
    }

    /// Returns all messages that were published so far, except navigation states.
    func everything() async throws -> [Envelope] {
        let end = try await inspect.end().offset
        guard end > 0 else { return [] }
        return try await withSubscription(to: [.all], from: .beginning) { messages in
            var found: [Envelope] = []
            for try await message in messages {
                if message.type != Document.NavigationState.type { found.append(message) }
                if message.position?.offset == end { break }
            }
            return found
        }
    }

    /// Returns the types of all other messages with the same correlation as `cause`, in order.
    func story(of cause: Envelope) async throws -> [String] {
        try await everything()
            .filter { $0.attributes.correlationID == cause.attributes.correlationID && $0.id != cause.id }
            .map(\.type.description)
    }
}
