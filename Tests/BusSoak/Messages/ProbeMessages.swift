internal import EventBus

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
