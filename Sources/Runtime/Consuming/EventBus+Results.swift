package import EventBus
internal import Foundation

extension EventBus {
    /// Wraps what a message led to. A command expires as one of ``send(_:subject:origin:causedBy:)`` does.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        var envelope = try Envelope(message, source: source, causedBy: cause)
        envelope.attributes.expireAsUsual()
        return envelope
    }
}

extension Envelope {
    /// Withdraws the document of this type and key in the session of its cause.
    package static func withdrawal(
        _ type: MessageType, key: String?, source: String, causedBy cause: Envelope
    ) -> Envelope {
        var attributes = Attributes(type: type, source: source, causedBy: cause.attributes)
        attributes.key = key
        (attributes.device, attributes.instance) = (nil, nil)
        return Envelope(attributes: attributes, data: Data())
    }
}
