public import Foundation

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

    public func matches(_ type: MessageType, subject: String) -> Bool {
        switch self {
        case .all: true
        case .subject(let selected): subject == selected
        case .kind(let kind, let selected): type.kind == kind && (selected == nil || selected == subject)
        case .type(let selectedType, let selected): type == selectedType && (selected == nil || selected == subject)
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

    /// The next message; nil if the subscription has ended.
    public var first: Envelope? {
        get async throws { try await pull() }
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
