import Contracts
import EventBus
import RuntimeTestSupport

extension EventBus {
    /// Sends a command as a person does on this device.
    func tap(_ command: some CommandMessage) async throws -> Envelope {
        try await send(command, origin: Origin(platform: "ios", device: "phone", instance: "s1"))
    }

    /// Returns the first message of a type that `cause` led to; waits for it.
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

    /// Returns all messages that were published so far.
    func everything() async throws -> [Envelope] {
        let end = try await publish(Batch([])).offset
        guard end > 0 else { return [] }
        return try await withSubscription(to: [.all], from: .beginning) { messages in
            var found: [Envelope] = []
            for try await message in messages {
                found.append(message)
                if message.position?.offset == end { break }
            }
            return found
        }
    }

    /// Returns the types of all messages that `cause` led to, in order.
    func story(of cause: Envelope) async throws -> [String] {
        try await everything()
            .filter { $0.attributes.correlationID == cause.attributes.correlationID && $0.id != cause.id }
            .map(\.type.description)
    }
}
