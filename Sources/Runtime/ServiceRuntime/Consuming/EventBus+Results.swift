package import EventBus

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
