public import EventBus
internal import Navigation

/// An error with a message for people and a code for programs.
public struct ApplicationError: ErrorMessage, Error, Hashable {
    public enum Severity: String, Codable, Sendable, CaseIterable {
        case info, warning, error
    }

    /// A stable, dotted code, such as `spotify.access-denied`.
    public var code: String
    /// The problem in one line.
    public var message: String
    /// The remedy in one line. Nil if there is none.
    public var recovery: String?
    public var severity: Severity

    public init(code: String, message: String, recovery: String? = nil, severity: Severity = .error) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.severity = severity
    }

    /// Creates the error that tells the user that a command of this type has expired. Nil if the type is not a command,
    /// or if it is a view's report or the dismissal of a banner.
    package init?(expired type: MessageType) {
        guard type.kind == .command, type != Command.ErrorDismissed.type, ViewReport(rawValue: type.description) == nil
        else { return nil }
        self.init(
            code: "command.expired", message: "'\(type.name)' came too late and was not carried out",
            recovery: "try again", severity: .warning)
    }
}

/// The messages that are published if a command expires before it is handled.
extension Envelope {
    /// The messages that a consumer publishes instead of handling this command: `event.MessageDiscarded`, and the error
    /// of ``expiryError(source:)`` if there is one.
    /// - Parameter source: The source of the consumer's process.
    package func expired(source: String) throws -> [Envelope] {
        let discarded = DomainEvent.MessageDiscarded(expired: id)
        return [try Envelope(discarded, source: source, causedBy: self)]
            + [try expiryError(source: source)].compactMap(\.self)
    }

    /// The error that tells the user that this command was not carried out. Its id is derived from the command's id.
    /// - Returns: Nil if this is not a command, or if it is a view's report or the dismissal of a banner.
    package func expiryError(source: String) throws -> Envelope? {
        guard let error = ApplicationError(expired: type) else { return nil }
        return try Envelope(error, source: source, causedBy: attributes, id: Self.expiryErrorID(of: id))
    }

    /// The id of the expiry error of the command with this id.
    package static func expiryErrorID(of id: String) -> String { DerivedID.shared(from: id, name: "expired") }

    /// True if this is the error that reports the expiry of its cause.
    package var isExpiryError: Bool {
        type == ApplicationError.type
            && attributes.causationID.map { id == Self.expiryErrorID(of: $0) } ?? false
    }
}
