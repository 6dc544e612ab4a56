package import BusChecker
package import EventBus

/// The messages that carry values, and their values.
package enum Probe {
    /// All that publishers send.
    package static let filters: [MessageFilter] = [
        .type(ProbeEvent.self), .type(ProbeCommand.self), .type(ProbeDocument.self),
    ]

    private static let subjects = 5
    private static let rareInterval = 101

    /// The message for a value: its type and subject follow from the sequence, so that all kinds and a few subjects mix.
    package static func message(for value: Value, padding: String?, source: String) throws -> Envelope {
        let subject = subject(of: value)
        return switch value.sequence % 8 {
        case 0:
            try Envelope(
                ProbeDocument(value: "\(value)", publisher: value.publisher, padding: padding), source: source,
                subject: subject)
        case 1, 2: try Envelope(ProbeCommand(value: "\(value)", padding: padding), source: source, subject: subject)
        default: try Envelope(ProbeEvent(value: "\(value)", padding: padding), source: source, subject: subject)
        }
    }

    /// Which document a value is; nil if it is none.
    package static func document(of value: Value) -> String? {
        value.sequence % 8 == 0 ? subject(of: value) : nil
    }

    /// Some subjects are rare: what is lost of them is followed by nothing that would show it.
    private static func subject(of value: Value) -> String {
        value.sequence % rareInterval == 0
            ? "rare\(value.sequence / rareInterval % 7)" : "s\(value.sequence % subjects)"
    }

    /// The value that a message carries; nil if it is none of a publisher's.
    /// - Throws: ``BusError`` if the message is not what its type says.
    package static func value(in message: Envelope) throws -> Value? {
        switch message.type {
        case ProbeEvent.type: Value(try message.decode(ProbeEvent.self).value)
        case ProbeCommand.type: Value(try message.decode(ProbeCommand.self).value)
        case ProbeDocument.type: Value(try message.decode(ProbeDocument.self).value)
        default: nil
        }
    }

    /// The messages among which readers are promised an order.
    package static func stream(of message: Envelope) -> String {
        "\(message.type)/\(message.subject)"
    }
}

/// Something that happened: one value.
package struct ProbeEvent: EventMessage {
    package let value: String
    /// Makes the message as large as a test needs it.
    package var padding: String?
}

/// An intent: one value.
package struct ProbeCommand: CommandMessage {
    package let value: String
    package var padding: String?
}

/// What is true now: one value, which supersedes the one before of the same publisher and subject.
package struct ProbeDocument: DocumentMessage {
    package let value: String
    package let publisher: String
    package var padding: String?

    package var key: String? { publisher }
}

/// What a durable consumer made of one input.
package struct ProbeResult: EventMessage {
    package let group: String
    package let input: String
}

/// A leased document: there as long as its publisher lives.
package struct ProbeLease: DocumentMessage {
    package let holder: String

    package var key: String? { holder }
}

/// Ends a reading: everything before it has been there when it comes.
package struct ProbeMarker: EventMessage {
    package let id: String
}
