package import EventBus

extension EventBus {
    /// Wraps what a message led to. A command expires as one of ``send(_:subject:origin:causedBy:)`` does.
    package func envelope(_ message: some Message, causedBy cause: Envelope) throws -> Envelope {
        var envelope = try Envelope(message, source: source, causedBy: cause)
        envelope.attributes.expireAsUsual()
        return envelope
    }
}
