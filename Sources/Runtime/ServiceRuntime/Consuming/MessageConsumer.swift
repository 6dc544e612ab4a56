public import EventBus
public import Foundation
public import Logging

/// A durable consumer that hands each message to the handler of its type. The chain of `on` is its route table:
///
///     MessageConsumer("music-service", in: process)
///         .on(Command.PlaylistSelected.self) { command, context in try await playlists.select(command, context) }
///         .on(Command.DeviceSelected.self) { command, _ in try await player.activate(command.deviceID) }
///
/// What a handler gives back is published in one batch with the consumer's progress: a crash may repeat a call, never
/// half of its result. Nothing that is wrong with a message, or that goes wrong in a handler, stops the consumer; see
/// `MessageConsumer+Handling.swift` for what is published instead.
public struct MessageConsumer: ReadyService {
    /// Signalled when its subscription is live.
    public let ready: ReadySignal
    let bus: any EventBus
    let logger: Logger
    let now: @Sendable () -> Date
    private let consumer: String
    private let clock: any Clock<Duration>
    private(set) var routes: [MessageType: @Sendable (MessageContext) async throws -> [any Message]] = [:]

    /// - Parameters:
    ///   - consumer: the durable name. All that consume under one name are one consumer, and the newest owns it.
    ///   - ready: signalled when its subscription is live; of the service that runs it, if it is not one by itself.
    ///   - now: the time by which commands expire.
    ///   - clock: for the pauses between attempts to reach the bus.
    public init(
        _ consumer: String, bus: any EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.consumer = consumer
        self.ready = ready
        self.bus = bus
        self.logger = logger
        self.now = now
        self.clock = clock
    }

    /// A consumer of a running process.
    public init(_ consumer: String, in process: ServiceContext) {
        self.init(consumer, bus: process.bus, logger: process.logger)
    }

    /// Adds a route.
    /// - Precondition: there is none for this type yet.
    public func on<M: Message>(
        _ type: M.Type, handle: @escaping @Sendable (M, MessageContext) async throws -> [any Message]
    ) -> MessageConsumer {
        precondition(routes[M.type] == nil, "\(M.type) has two handlers")
        var consumer = self
        consumer.routes[M.type] = { context in try await handle(context.cause.decode(M.self), context) }
        return consumer
    }

    /// The types it has handlers for, in alphabetical order.
    public var receives: [MessageType] {
        routes.keys.sorted { $0.description < $1.description }
    }

    public func run() async throws {
        try await BusRetry(logger: logger, clock: clock).run {
            guard let claim = try await bus.claimUntilShutdown(consumer: consumer) else { return }
            let filters = receives.map { MessageFilter.type($0) }
            try await bus.consumeUntilShutdown(
                under: claim, filters, whenLive: ready.signal, handler: results(of:), instead: failure(of:_:))
        }
    }
}
