extension EventBus {
    /// How long a command from a view is worth acting upon, unless said.
    public static var commandLifetime: Duration { Attributes.usualLifetime }

    /// Sends a command. One that comes from a view, as its origin or its cause tells, expires after ``commandLifetime``: a
    /// consumer that finds it later discards it, visibly. Any other does not expire.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) async throws -> Envelope {
        try await send(command, subject, origin, cause) { $0.expireAsUsual() }
    }

    /// Sends a command that expires after `lifetime`; nil for never.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil, lifetime: Duration?
    ) async throws -> Envelope {
        try await send(command, subject, origin, cause) { $0.expire(after: lifetime) }
    }

    private func send(
        _ command: some CommandMessage, _ subject: String, _ origin: Origin, _ cause: Envelope?,
        expire: (inout Attributes) -> Void
    ) async throws -> Envelope {
        var envelope = try Envelope(command, source: source, subject: subject, origin: origin, causedBy: cause)
        expire(&envelope.attributes)
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
