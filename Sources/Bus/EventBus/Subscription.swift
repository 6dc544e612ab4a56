public import Foundation

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

    /// Returns the next message. It runs in the reader's isolation.
    package typealias Pull = nonisolated(nonsending) @Sendable () async throws -> Delivery?

    private let pull: Pull

    /// - Parameter pull: Waits for the next message. Returns nil when the subscription has ended.
    package init(pull: @escaping Pull) {
        self.pull = pull
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: pull)
    }

    /// The next message; nil if the subscription has ended.
    public var first: Envelope? {
        get async throws { try await pull()?.message }
    }

    /// The same messages as deliveries.
    package var deliveries: Deliveries { Deliveries(pull: pull) }

    public struct Iterator: AsyncIteratorProtocol {
        let pull: Pull

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Envelope? {
            try await pull()?.message
        }

        public mutating func next() async throws -> Envelope? {
            try await pull()?.message
        }
    }

    package struct Deliveries: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let pull: Pull

        package func makeAsyncIterator() -> Deliveries { self }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Delivery? {
            try await pull()
        }

        package mutating func next() async throws -> Delivery? {
            try await pull()
        }
    }
}

/// A message of a subscription, and how far the subscription had come when it delivered the message.
package struct Delivery: Sendable {
    package let message: Envelope
    /// The offset up to which the subscription had delivered everything when it delivered this message. It is smaller
    /// than the offset of the message if an earlier message of another partition had not arrived yet. It has no meaning
    /// for a message that is not recorded in the journal.
    package let lowWatermark: UInt64

    /// - Parameter lowWatermark: By default the offset of the message, for an engine that delivers in order.
    package init(_ message: Envelope, lowWatermark: UInt64? = nil) {
        self.message = message
        self.lowWatermark = lowWatermark ?? message.position?.offset ?? 0
    }
}

/// A report of messages that a subscription did not receive from the feed.
public enum SubscriptionNotice: Hashable, Sendable {
    /// The feed dropped messages of this type. The subscription read them from the journal.
    case recovered(MessageType, count: Int)
    /// Retention removed messages of this type before the subscription had read them. One of them was at this offset.
    case removed(MessageType, through: UInt64)
}
