extension EventBus {
    /// How long a command is worth acting upon, unless said.
    public static var commandLifetime: Duration { .seconds(60) }

    /// Sends a command. It expires after `lifetime`: whoever finds it later discards it, visibly.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil, lifetime: Duration? = Self.commandLifetime
    ) async throws -> Envelope {
        var envelope = try Envelope(command, source: source, subject: subject, origin: origin, causedBy: cause)
        envelope.attributes.expire(after: lifetime)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
    }

    /// Publishes one message.
    @discardableResult
    public func publish(
        _ message: some Message, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        var envelope = try Envelope(message, source: source, subject: subject, origin: origin, causedBy: cause)
        envelope.position = try await publish(Batch([envelope]))
        return envelope
    }

    /// The retained document of this type, subject and key; nil if there is none.
    public func document<D: DocumentMessage>(
        _ type: D.Type, subject: String = Session.default, key: String? = nil
    ) async throws -> D? {
        try await document(type.type, subject: subject, key: key)?.decode(D.self)
    }
}
