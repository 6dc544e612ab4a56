public import Foundation

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

/// Where a subscription begins. In every case nothing is missing and nothing comes twice between past and live.
public enum StartPosition: Hashable, Sendable {
    /// With the first message after the subscription is live.
    case now
    /// With the first message that the journal holds.
    case beginning
    /// Behind this position.
    case after(Position)
    /// With the first message that was journalled at this time or later.
    case since(Date)
    /// With the last of each matching document, then as ``now``.
    case retained
}

/// The messages of one subscription, in order. For one reader.
///
/// It pulls: what the reader has not asked for waits in the journal, so a slow reader costs nobody else anything.
public struct MessageSequence: AsyncSequence, Sendable {
    public typealias Element = Envelope
    public typealias Failure = any Error

    /// Runs where the reader runs: a message that is there already costs no change of threads.
    public typealias Pull = nonisolated(nonsending) @Sendable () async throws -> Envelope?

    private let pull: Pull

    /// - Parameter pull: waits for the next message; nil when the subscription has ended.
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

/// What a subscription lacked of its messages: whoever watches a bus wants to know.
public enum SubscriptionNotice: Hashable, Sendable {
    /// The feed dropped messages of this type. They were read from the journal, so that nothing is missing.
    case recovered(MessageType, count: Int)
    /// Retention removed messages of this type, the last of them at this offset, before the subscription had read them.
    case removed(MessageType, through: UInt64)
}
