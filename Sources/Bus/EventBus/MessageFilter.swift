/// Selects messages by kind, type and subject.
public enum MessageFilter: Hashable, Sendable {
    case all
    /// The messages of a subject.
    case subject(String)
    /// The messages of a kind. If `subject` is nil, those of all subjects.
    case kind(MessageKind, subject: String? = nil)
    /// The messages of one type. If `subject` is nil, those of all subjects.
    case type(MessageType, subject: String? = nil)

    /// The messages of one type. If `subject` is nil, those of all subjects.
    public static func type<M: Message>(_ message: M.Type, subject: String? = nil) -> MessageFilter {
        .type(M.type, subject: subject)
    }

    public func matches(_ type: MessageType, subject: @autoclosure () -> String) -> Bool {
        switch self {
        case .all: true
        case .subject(let selected): subject() == selected
        case .kind(let kind, let selected): type.kind == kind && (selected == nil || selected == subject())
        case .type(let selectedType, let selected): type == selectedType && (selected == nil || selected == subject())
        }
    }

    public func matches(_ envelope: Envelope) -> Bool {
        matches(envelope.type, subject: envelope.subject)
    }

    /// The kind of all messages that the filter selects; nil if they can have several.
    package var kind: MessageKind? {
        switch self {
        case .all, .subject: nil
        case .kind(let kind, _): kind
        case .type(let type, _): type.kind
        }
    }

    /// The type of all messages that the filter selects; nil if they can have several.
    package var type: MessageType? {
        if case .type(let type, _) = self { type } else { nil }
    }

    /// The subject of all messages that the filter selects; nil if they can have several.
    package var subject: String? {
        switch self {
        case .all: nil
        case .subject(let subject): subject
        case .kind(_, let subject), .type(_, let subject): subject
        }
    }

    /// Returns the filter for another subject, or for all of them if it is nil.
    package func with(subject: String?) -> MessageFilter {
        switch self {
        case .all, .subject: subject.map(MessageFilter.subject) ?? .all
        case .kind(let kind, _): .kind(kind, subject: subject)
        case .type(let type, _): .type(type, subject: subject)
        }
    }
}
