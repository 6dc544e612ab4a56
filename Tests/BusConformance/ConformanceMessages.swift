internal import EventBus
internal import Foundation

/// A numbered event.
struct Numbered: EventMessage {
    var number: Int
}

/// An event of another type than ``Numbered``.
struct Other: EventMessage {
    var number: Int
}

/// A command, that is a message of another kind than ``Numbered``.
struct Order: CommandMessage {
    var number: Int
}

/// A document with a key, so that there can be several of one subject.
struct Setting: DocumentMessage {
    var name: String?
    var value: String

    var key: String? { name }
}

/// The result of a worker for a ``Numbered``.
struct Handled: EventMessage {
    var number: Int
    var worker: String
}

/// A query.
struct Question: QueryMessage {
    struct Answer: Codable, Hashable, Sendable {
        var number: Int
        var server: String
    }

    var number: Int
}

/// An answer that is an error.
struct Trouble: ErrorMessage {}

/// The end of a part of a case. When it arrives, all earlier messages have arrived.
struct Marker: EventMessage {}

extension EventBus {
    /// Publishes a batch of numbered events, in order.
    @discardableResult
    func publish(_ numbers: some Sequence<Int>, subject: String = Session.default) async throws -> Position {
        let source = source
        return try await publish(
            Batch(numbers.map { try Envelope(Numbered(number: $0), source: source, subject: subject) }))
    }

    /// Withdraws a document.
    func withdraw(_ setting: Setting) async throws {
        var tombstone = try Envelope(setting, source: source)
        tombstone.data = .init()
        try await publish(Batch([tombstone]))
    }
}
