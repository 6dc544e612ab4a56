package import EventBus

/// A numbered event.
package struct Counted: EventMessage {
    package var number: Int
    /// Text that makes the message larger.
    package var padding: String?

    package init(number: Int, padding: String? = nil) {
        self.number = number
        self.padding = padding
    }
}

/// A document with a key, so that there can be several of one subject.
package struct Setting: DocumentMessage {
    package var name: String?
    package var value: String

    package init(name: String? = nil, value: String) {
        self.name = name
        self.value = value
    }

    package var key: String? { name }
}

/// A query with the number and the server in its answer.
package struct Question: QueryMessage {
    package struct Answer: Codable, Hashable, Sendable {
        package var number: Int
        package var server: String

        package init(number: Int, server: String) {
            self.number = number
            self.server = server
        }
    }

    package var number: Int

    package init(number: Int) {
        self.number = number
    }
}

extension EventBus {
    /// Publishes a batch of numbered events, in order.
    @discardableResult
    package func publish(_ numbers: some Sequence<Int>, subject: String = Session.default) async throws -> Position {
        let source = source
        return try await publish(
            Batch(numbers.map { try Envelope(Counted(number: $0), source: source, subject: subject) }))
    }
}

extension MessageSequence {
    /// The next `count` messages, or all until the end.
    package func receive(_ count: Int) async throws -> [Envelope] {
        var messages: [Envelope] = []
        guard count > 0 else { return messages }
        for try await message in self {
            messages.append(message)
            if messages.count == count { break }
        }
        return messages
    }
}

extension Sequence<Envelope> {
    /// The numbers of numbered events.
    package var numbers: [Int] {
        get throws { try map { try $0.decode(Counted.self).number } }
    }
}
