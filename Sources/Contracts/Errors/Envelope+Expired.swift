package import EventBus
internal import Navigation

/// What comes of a command that has expired before it was handled.
extension Envelope {
    /// The messages that a consumer publishes instead of handling this command: `event.MessageDiscarded`, and the error of
    /// ``expiryError(source:)``.
    /// - Parameter source: the consumer's process.
    package func expired(source: String) throws -> [Envelope] {
        let discarded = DomainEvent.MessageDiscarded(messageID: id, reason: "expired")
        return [try Envelope(discarded, source: source, causedBy: self)]
            + [try expiryError(source: source)].compactMap(\.self)
    }

    /// The error by which a person learns that this command was not carried out. Its id derives from the command's, so that
    /// several consumers of one command show one banner.
    /// - Returns: nil for what nobody waits for: a view's report, the dismissal of a banner, and what is not a command.
    package func expiryError(source: String) throws -> Envelope? {
        guard type.kind == .command, type != Command.ErrorDismissed.type, ViewReport(rawValue: type.description) == nil
        else { return nil }
        let error = ApplicationError(
            code: "command.expired", message: "'\(type.name)' came too late and was not carried out",
            recovery: "try again", severity: .warning)
        var envelope = try Envelope(error, source: source, causedBy: self)
        envelope.attributes.id = DerivedID.shared(from: id, name: "expired")
        return envelope
    }

    /// Whether this is such an error.
    package var isExpiryError: Bool {
        type == ApplicationError.type
            && attributes.causationID.map { id == DerivedID.shared(from: $0, name: "expired") } ?? false
    }
}
