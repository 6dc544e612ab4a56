package import EventBus
internal import Foundation

extension EventBus {
    /// Wraps what a message led to. A command gets the usual lifetime, as ``send(_:subject:origin:causedBy:lifetime:)``
    /// gives it.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        var envelope = try Envelope(message, source: source, causedBy: cause)
        if envelope.type.kind == .command {
            envelope.attributes.expire(after: Self.commandLifetime)
        }
        return envelope
    }
}

extension Envelope {
    /// Withdraws the document of this type and key in the session of its cause.
    package static func withdrawal(
        _ type: MessageType, key: String?, source: String, causedBy cause: Envelope
    ) -> Envelope {
        var withdrawal = Envelope.withdrawal(type, key: key, source: source, of: cause)
        withdrawal.attributes.correlationID = cause.attributes.correlationID
        withdrawal.attributes.causationID = cause.id
        return withdrawal
    }

    /// Withdraws the document of this type and key in the session of a message that is not the cause.
    package static func withdrawal(
        _ type: MessageType, key: String?, source: String, of message: Envelope
    ) -> Envelope {
        var attributes = Attributes(type: type, source: source, subject: message.subject)
        attributes.key = key
        attributes.platform = message.attributes.platform
        return Envelope(attributes: attributes, data: .init())
    }
}
