internal import Consuming
internal import Contracts
public import EventBus
public import Logging

/// The connection of a device to the bus.
public struct DeviceConnection: Sendable {
    /// The maximum time for the answer to a query.
    private static let patience: Duration = .seconds(5)

    private let bus: EventBus
    private let logger: Logger
    private let clock: any Clock<Duration>

    public init(bus: EventBus, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.bus = bus
        self.logger = logger
        self.clock = clock
    }

    /// Receives the contracts of the services, then the retained documents that match, then the messages that are
    /// published from now on. After an error of the bus, begins again.
    ///
    /// The contracts come first, because a choice on the first scene is checked against them. Retained documents come in
    /// the order in which they were published, so a contract can come after the state of the coordinator.
    /// - Parameters:
    ///   - attached: Called when a subscription is live and the contracts have been received.
    ///   - receive: Called with each message.
    public func follow(
        _ filters: [MessageFilter], attached: () async throws -> Void, receive: (Envelope) async throws -> Void
    ) async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock).run {
            try await bus.withSubscription(to: filters, from: .retained) { messages in
                for contract in try await bus.documents(matching: [.type(Document.ServiceContract.type)]) {
                    try await receive(contract)
                }
                try await attached()
                for try await message in messages { try await receive(message) }
            }
        }
    }

    /// Publishes a message. If the bus refuses it, the message is logged and dropped.
    public func publish(_ message: Envelope) async throws {
        do {
            try await BusRetry(holding: .nothing, logger: logger, clock: clock)
                .run { _ = try await bus.publish(Batch([message])) }
        } catch let error as BusError where error.code == .refused {
            logger.warning("a message was refused: \(error)", metadata: ["type": "\(message.type)"])
        }
    }

    /// Asks a query.
    public func answer(to query: Envelope) async -> Result<Envelope, any Error> {
        do {
            return .success(try await bus.ask(query, timeout: Self.patience))
        } catch {
            return .failure(error)
        }
    }
}

/// The messages to publish and the URLs to open, in order.
public struct DeviceOutbox: Sendable {
    public struct Opening: Sendable {
        public let url: String
        /// True if the person has asked to open the URL, false if a message has requested it.
        public let isByHand: Bool
    }

    /// The maximum number of waiting messages, and also of waiting URLs. Further messages and URLs are refused.
    private static let limit = 256

    public let messages: AsyncStream<Envelope>
    public let urls: AsyncStream<Opening>
    private let sending: AsyncStream<Envelope>.Continuation
    private let opening: AsyncStream<Opening>.Continuation

    public init() {
        (messages, sending) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(Self.limit))
        (urls, opening) = AsyncStream.makeStream(of: Opening.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// - Returns: False if the outbox is full.
    public func send(_ message: Envelope) -> Bool {
        if case .enqueued = sending.yield(message) { true } else { false }
    }

    /// - Returns: False if the outbox is full.
    public func open(_ url: String, isByHand: Bool = false) -> Bool {
        if case .enqueued = opening.yield(Opening(url: url, isByHand: isByHand)) { true } else { false }
    }

    /// Ends both sequences after the elements that still wait.
    public func finish() {
        sending.finish()
        opening.finish()
    }
}
