public import Foundation

/// Selects messages by kind, name and subject. A field that is nil matches every value.
public struct MessageFilter: Hashable, Sendable {
    public var kind: MessageKind?
    /// The name after the kind. It may be set only together with `kind`.
    public var name: String?
    public var subject: String?

    public init(kind: MessageKind? = nil, name: String? = nil, subject: String? = nil) {
        self.kind = kind
        self.name = name
        self.subject = subject
    }

    /// The messages of a kind. If `subject` is nil, those of all subjects.
    public static func kind(_ kind: MessageKind, subject: String? = nil) -> MessageFilter {
        MessageFilter(kind: kind, name: nil, subject: subject)
    }

    /// The messages of one type. If `subject` is nil, those of all subjects.
    public static func type(_ type: MessageType, subject: String? = nil) -> MessageFilter {
        MessageFilter(kind: type.kind, name: type.name, subject: subject)
    }

    /// The messages of one type. If `subject` is nil, those of all subjects.
    public static func type<M: Message>(_ message: M.Type, subject: String? = nil) -> MessageFilter {
        .type(M.type, subject: subject)
    }

    public static let all = MessageFilter()

    public func matches(_ type: MessageType, subject: String) -> Bool {
        (kind == nil || kind == type.kind) && (name == nil || name == type.name)
            && (self.subject == nil || self.subject == subject)
    }

    public func matches(_ envelope: Envelope) -> Bool {
        matches(envelope.type, subject: envelope.subject)
    }
}

/// The start of a subscription.
public enum StartPosition: Hashable, Sendable {
    /// The first message that is published after the subscription is live.
    case now
    /// The oldest message that the journal holds.
    case beginning
    /// The first message after this position.
    case after(Position)
    /// The first message that was recorded at this time or later.
    case since(Date)
    /// The retained documents that match, then the same as ``now``.
    case retained
}

/// The messages of one subscription. The messages of one subject are in order. Only one task may read them.
public struct MessageSequence: AsyncSequence, Sendable {
    public typealias Element = Envelope
    public typealias Failure = any Error

    /// A function that returns the next message. It runs in the reader's isolation.
    public typealias Pull = nonisolated(nonsending) @Sendable () async throws -> Envelope?

    private let pull: Pull

    /// - Parameter pull: Waits for the next message. Returns nil when the subscription has ended.
    public init(pull: @escaping Pull) {
        self.pull = pull
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: pull)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let pull: Pull

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Envelope? {
            try await pull()
        }

        public mutating func next() async throws -> Envelope? {
            try await pull()
        }
    }
}

/// A report of messages that a subscription did not receive from the feed.
public enum SubscriptionNotice: Hashable, Sendable {
    /// The feed dropped messages of this type. The subscription read them from the journal.
    case recovered(MessageType, count: Int)
    /// Retention removed messages of this type before the subscription had read them. One of them was at this offset.
    case removed(MessageType, through: UInt64)
}
