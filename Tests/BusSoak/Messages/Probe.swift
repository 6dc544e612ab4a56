package import BusChecker
package import EventBus

/// The messages of the test, and the values that they carry.
package enum Probe {
    /// All types that publishers send.
    package static let filters: [MessageFilter] =
        [
            .type(ProbeEvent.self), .type(ProbeCommand.self), .type(ProbeDocument.self), .type(ProbeTimerChanged.self),
        ] + Visit.types.map { .type($0) }

    private static let subjects = 5
    private static let rareInterval = 101

    /// The message for a value. Its type and subject are computed from the sequence, so that four types and a few
    /// subjects mix.
    package static func message(for value: Value, padding: String?, source: String) throws -> Envelope {
        let subject = subject(of: value)
        return switch value.sequence % 8 {
        case 0:
            try Envelope(
                ProbeDocument(value: "\(value)", publisher: value.publisher, padding: padding), source: source,
                subject: subject)
        case 1 where value.sequence % ProbeTimerChanged.interval == 1:
            try Envelope(
                ProbeTimerChanged(value), source: source, subject: ProbeTimerChanged.session(of: value))
        case 1, 2: try Envelope(ProbeCommand(value: "\(value)", padding: padding), source: source, subject: subject)
        default: try Envelope(ProbeEvent(value: "\(value)", padding: padding), source: source, subject: subject)
        }
    }

    /// The subject of the document that a value is published as; nil if it is not published as a document.
    package static func document(of value: Value) -> String? {
        value.sequence % 8 == 0 ? subject(of: value) : nil
    }

    /// The subject of a value. Some subjects are rare.
    private static func subject(of value: Value) -> String {
        value.sequence % rareInterval == 0
            ? "rare\(value.sequence / rareInterval % 7)" : "s\(value.sequence % subjects)"
    }

    /// The value of a message; nil if it is not from a publisher of the test.
    /// - Throws: ``BusError`` if the data does not match the type of the message.
    package static func value(in message: Envelope) throws -> Value? {
        switch message.type {
        case ProbeEvent.type: Value(try message.decode(ProbeEvent.self).value)
        case ProbeCommand.type: Value(try message.decode(ProbeCommand.self).value)
        case ProbeTimerChanged.type: Value(try message.decode(ProbeTimerChanged.self).value)
        case ProbeDocument.type: Value(try message.decode(ProbeDocument.self).value)
        case let type where Visit.types.contains(type): Value(message.id)
        default: nil
        }
    }

    /// The stream of a message: its type and subject. The messages of one stream must arrive in order.
    package static func stream(of message: Envelope) -> String {
        "\(message.type)/\(message.subject)"
    }
}

/// An event with one value.
package struct ProbeEvent: EventMessage {
    package let value: String
    /// Text that makes the message as large as the test needs.
    package var padding: String?
}

/// A command with one value.
package struct ProbeCommand: CommandMessage {
    package let value: String
    package var padding: String?
}

/// A document with one value, which replaces the previous one of the same publisher and subject.
package struct ProbeDocument: DocumentMessage {
    package let value: String
    package let publisher: String
    package var padding: String?

    package var key: String? { publisher }
}

/// The result of a durable consumer for one input.
package struct ProbeResult: EventMessage {
    package let group: String
    package let input: String
}

/// A leased document. It is withdrawn when its publisher has ended.
package struct ProbeLease: DocumentMessage {
    package let holder: String

    package var key: String? { holder }
}

/// The end of a reading: when it arrives, everything before it has arrived.
package struct ProbeMarker: EventMessage {
    package let id: String
}
