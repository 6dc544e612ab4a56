public import EventBus
internal import Navigation

/// What failed, in words for a person and a code for a program.
public struct ApplicationError: ErrorMessage, Error, Hashable {
    public enum Severity: String, Codable, Sendable, CaseIterable {
        case info, warning, error
    }

    /// Stable, dotted: `spotify.access-denied`.
    public var code: String
    /// One line: what is wrong.
    public var message: String
    /// One line: what to do about it.
    public var recovery: String?
    public var severity: Severity

    public init(code: String, message: String, recovery: String? = nil, severity: Severity = .error) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.severity = severity
    }

    /// The error by which a person learns that a command of this type was not carried out; nil for a type that nobody waits
    /// for.
    package init?(expired type: MessageType) {
        guard type.kind == .command, type != Command.ErrorDismissed.type, ViewReport(rawValue: type.description) == nil
        else { return nil }
        self.init(
            code: "command.expired", message: "'\(type.name)' came too late and was not carried out",
            recovery: "try again", severity: .warning)
    }
}

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
        guard let error = ApplicationError(expired: type) else { return nil }
        return try Envelope(error, source: source, causedBy: attributes, id: Self.expiryErrorID(of: id))
    }

    /// The id of the error about a command of this id.
    package static func expiryErrorID(of id: String) -> String { DerivedID.shared(from: id, name: "expired") }

    /// Whether this is such an error.
    package var isExpiryError: Bool {
        type == ApplicationError.type
            && attributes.causationID.map { id == Self.expiryErrorID(of: $0) } ?? false
    }
}
