public import EventBus
public import Foundation
public import Logging
internal import ServiceLifecycle

/// A durable consumer that hands each message to the handler of its type. The chain of `on` is its route table:
///
///     MessageConsumer("music-service", in: process)
///         .on(Command.PlaylistSelected.self) { command, context in try await playlists.select(command, context) }
///         .on(Command.DeviceSelected.self) { command, _ in try await player.activate(command.deviceID) }
///
/// What a handler gives back is published in one batch with the consumer's progress: a crash may repeat a call, never
/// half of its result. Nothing that is wrong with a message, or that goes wrong in a handler, stops the consumer; see
/// `MessageConsumer+Handling.swift` for what becomes of it.
///
/// Instances that consume under one name share the work: each handles the messages of some subjects, in their order. When
/// one goes, the others go on with what it had not handled.
public struct MessageConsumer: ReadyService {
    /// Has the message read, and gives back the call of its handler.
    typealias Route = @Sendable (MessageContext) throws -> @Sendable () async throws -> [any Message]

    /// Signalled when its subscription is live.
    public let ready: ReadySignal
    let consumer: String
    let bus: any EventBus
    let logger: Logger
    let retries: RetryPolicy
    let now: @Sendable () -> Date
    let clock: any Clock<Duration>
    private let metrics: ConsumerMetrics
    private(set) var routes: [MessageType: Route] = [:]

    /// - Parameters:
    ///   - consumer: the durable name. All that consume under one name are one consumer, and share its messages.
    ///   - ready: signalled when its subscription is live; of the service that runs it, if it is not one by itself.
    ///   - metrics: of the process; counts what is handled.
    ///   - retries: how often a handler that fails is called again.
    ///   - now: the time by which commands expire.
    ///   - clock: for the pauses between attempts to handle a message or to reach the bus.
    public init(
        _ consumer: String, bus: any EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
        metrics: ConsumerMetrics = ConsumerMetrics(), retries: RetryPolicy = .standard,
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.consumer = consumer
        self.ready = ready
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.retries = retries
        self.now = now
        self.clock = clock
    }

    /// Adds a route.
    /// - Precondition: there is none for this type yet.
    public func on<M: Message>(
        _ type: M.Type, handle: @escaping @Sendable (M, MessageContext) async throws -> [any Message]
    ) -> MessageConsumer {
        precondition(routes[M.type] == nil, "\(M.type) has two handlers")
        var consumer = self
        consumer.routes[M.type] = { context in
            let message = try context.cause.decode(M.self)
            return { try await handle(message, context) }
        }
        return consumer
    }

    /// The types it has handlers for, in alphabetical order.
    public var receives: [MessageType] {
        routes.keys.sorted { $0.description < $1.description }
    }

    public func run() async throws {
        let loop = loop
        try await BusRetry(logger: logger, clock: clock).run {
            try await loop.runShared(partitionsAtOnce: Self.partitionsAtOnce) { try await results(of: $0, loop) }
        }
    }

    /// Handlers that run at the same time, at most.
    private static let partitionsAtOnce = 16

    private var loop: ConsumerLoop {
        ConsumerLoop(
            consumer, receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
    }
}
