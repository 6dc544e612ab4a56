/// Which messages a subscriber wants. Fields that are nil match everything.
public struct MessageFilter: Hashable, Sendable {
    public var kind: MessageKind?
    /// Only together with `kind`.
    public var name: String?
    public var subject: String?

    public init(kind: MessageKind? = nil, name: String? = nil, subject: String? = nil) {
        self.kind = kind
        self.name = name
        self.subject = subject
    }

    /// All messages of a kind.
    public static func kind(_ kind: MessageKind, subject: String? = nil) -> MessageFilter {
        MessageFilter(kind: kind, name: nil, subject: subject)
    }

    /// All messages of one type.
    public static func type(_ type: MessageType, subject: String? = nil) -> MessageFilter {
        MessageFilter(kind: type.kind, name: type.name, subject: subject)
    }

    /// All messages of one type.
    public static func type<M: Message>(_ message: M.Type, subject: String? = nil) -> MessageFilter {
        .type(M.type, subject: subject)
    }

    /// Everything.
    public static let all = MessageFilter()

    public func matches(_ type: MessageType, subject: String) -> Bool {
        (kind == nil || kind == type.kind) && (name == nil || name == type.name)
            && (self.subject == nil || self.subject == subject)
    }

    public func matches(_ envelope: Envelope) -> Bool {
        matches(envelope.type, subject: envelope.subject)
    }
}
