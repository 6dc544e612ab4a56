internal import EventBus
internal import Foundation

/// Something to count.
struct Numbered: EventMessage {
    var number: Int
}

/// Another type of the same kind.
struct Other: EventMessage {
    var number: Int
}

/// A message of another kind.
struct Order: CommandMessage {
    var number: Int
}

/// A document of which several exist.
struct Setting: DocumentMessage {
    var name: String?
    var value: String

    var key: String? { name }
}

/// What a worker made of a ``Numbered``.
struct Handled: EventMessage {
    var number: Int
    var worker: String
}

/// Something to answer.
struct Question: QueryMessage {
    struct Answer: Codable, Hashable, Sendable {
        var number: Int
        var server: String
    }

    var number: Int
}

/// An answer that is an error.
struct Trouble: ErrorMessage {}

/// Ends a part of a case: all that was published before it has arrived when it does.
struct Marker: EventMessage {}

extension EventBus {
    /// A batch of numbered events, in order.
    @discardableResult
    func publish(_ numbers: some Sequence<Int>, subject: String = Session.default) async throws -> Position {
        let source = source
        return try await publish(
            Batch(numbers.map { try Envelope(Numbered(number: $0), source: source, subject: subject) }))
    }

    /// A document without content: the retained one is gone.
    func withdraw(_ setting: Setting) async throws {
        var tombstone = try Envelope(setting, source: source)
        tombstone.data = .init()
        try await publish(Batch([tombstone]))
    }
}
