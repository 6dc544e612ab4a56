internal import EventBus

/// What a device wants done, in order.
struct Outbox: Sendable {
    struct Opening: Sendable {
        let url: String
        /// Whether the person has asked for it, not a message.
        let isByHand: Bool
    }

    /// Many more than a person can pick while the bus is away.
    private static let limit = 256

    let messages: AsyncStream<Envelope>
    let urls: AsyncStream<Opening>
    private let sending: AsyncStream<Envelope>.Continuation
    private let opening: AsyncStream<Opening>.Continuation

    init() {
        (messages, sending) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(Self.limit))
        (urls, opening) = AsyncStream.makeStream(of: Opening.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// - Returns: whether there was room.
    func send(_ message: Envelope) -> Bool {
        if case .enqueued = sending.yield(message) { true } else { false }
    }

    /// - Returns: whether there was room.
    func open(_ url: String, isByHand: Bool = false) -> Bool {
        if case .enqueued = opening.yield(Opening(url: url, isByHand: isByHand)) { true } else { false }
    }

    /// Nothing more comes.
    func finish() {
        sending.finish()
        opening.finish()
    }
}
