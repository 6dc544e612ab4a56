package import EventBus

extension EventBus {
    /// Waits until the journal contains `count` messages of a type, and returns the first `count` of them.
    package func received<M: Message>(_ type: M.Type, _ count: Int = 1) async throws -> [Envelope] {
        try await withSubscription(to: [.type(type)], from: .beginning) { messages in
            var received: [Envelope] = []
            for try await message in messages {
                received.append(message)
                if received.count == count { break }
            }
            return received
        }
    }

    /// Waits until the journal contains a message of a type that satisfies `condition`, and returns the first one.
    package func first<M: Message>(_ type: M.Type, where condition: (M) throws -> Bool) async throws -> Envelope? {
        try await withSubscription(to: [.type(type)], from: .beginning) { messages in
            for try await message in messages where !message.isTombstone {
                if try condition(message.decode(M.self)) { return message }
            }
            return nil
        }
    }

    /// Returns all messages of a type in the journal.
    package func journalled<M: Message>(_ type: M.Type) async throws -> [Envelope] {
        let end = try await inspect.end().offset
        guard end > 0 else { return [] }
        return try await withSubscription(to: [.all], from: .beginning) { messages in
            var found: [Envelope] = []
            for try await message in messages {
                if message.type == M.type { found.append(message) }
                if message.position?.offset == end { break }
            }
            return found
        }
    }
}
