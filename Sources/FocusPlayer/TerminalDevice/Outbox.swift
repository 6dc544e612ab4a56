internal import EventBus

/// What a device wants done, in order.
struct Outbox: Sendable {
    /// Many more than a person can pick while the bus is away.
    private static let limit = 256

    let messages: AsyncStream<Envelope>
    let urls: AsyncStream<String>
    private let sending: AsyncStream<Envelope>.Continuation
    private let opening: AsyncStream<String>.Continuation

    init() {
        (messages, sending) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(Self.limit))
        (urls, opening) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// - Returns: whether there was room.
    func send(_ message: Envelope) -> Bool {
        if case .enqueued = sending.yield(message) { true } else { false }
    }

    /// - Returns: whether there was room.
    func open(_ url: String) -> Bool {
        if case .enqueued = opening.yield(url) { true } else { false }
    }

    /// Nothing more comes.
    func finish() {
        sending.finish()
        opening.finish()
    }
}
