internal import Contracts
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
/// half of its result. Nothing that is wrong with a message, or that goes wrong in a handler, stops the consumer. What
/// becomes of a message is always in one batch with the progress:
///
/// - handled: the messages that its handler returned;
/// - a handler that throws an `ApplicationError`: that error. It is an answer, and final;
/// - a handler that throws anything else is called again after growing delays, see ``RetryPolicy``; the last error makes
///   the message a dead letter, `<service>.failed`;
/// - a header that cannot be read, or data that is not what the type says: a dead letter at once, `message.malformed`;
/// - results that the broker refuses: a dead letter at once, `<service>.refused`;
/// - a command that has expired: `event.MessageDiscarded`;
/// - a message that is sent again to another consumer, or a document that was withdrawn: nothing.
///
/// A message that retention has removed meanwhile becomes no dead letter: there is nothing to keep. With a dead letter goes
/// an `ApplicationError` of the same code, unless the message is an error itself: an error about an error would feed itself.
/// The error that was thrown is logged, not published: only an `ApplicationError` is written for the person in front of a
/// view.
///
/// A graceful shutdown ends the wait for another attempt; the message then has no result, and is handled again after the
/// next start. Cancellation, and errors of the bus that do not concern the message, end ``run()``.
///
/// Instances that consume under one name share the work: each handles the messages of some subjects, in their order. When
/// one goes, the others go on with what it had not handled.
public struct MessageConsumer: ReadyService {
    /// Has the message read, and gives back the call of its handler.
    private typealias Route = @Sendable (MessageContext) throws -> @Sendable () async throws -> [any Message]

    /// Signalled when its subscription is live.
    public let ready: ReadySignal
    private let consumer: String
    private let bus: any EventBus
    private let logger: Logger
    private let retries: RetryPolicy
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let metrics: ConsumerMetrics
    private var routes: [MessageType: Route] = [:]

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

    private func results(of message: Envelope, _ loop: ConsumerLoop) async throws -> Handled {
        guard let route = routes[message.type], !message.isTombstone else { return Handled() }
        let context = MessageContext(cause: message, bus: bus, logger: logger)
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            context.logger.info("discarded: expired")
            return Handled(try message.expired(source: bus.source))
        }
        let handler: () async throws -> [any Message]
        do {
            handler = try route(context)
        } catch let error as BusError where error.code == .malformed {
            return loop.malformed(message, error.message)
        }
        return try await attempts(at: handler, context, loop)
    }

    /// Calls a handler until it answers, or has failed often enough.
    private func attempts(
        at handler: () async throws -> [any Message], _ context: MessageContext, _ loop: ConsumerLoop
    ) async throws -> Handled {
        var attempt = 1
        while true {
            do {
                return Handled(try await handler().map { try bus.envelope($0, causedBy: context.cause) })
            } catch let answer as ApplicationError {
                context.logger.error("failed: \(answer)")
                return Handled(loop.answers(answer, to: context.cause))
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("failed, attempt \(attempt) of \(retries.attempts): \(error)")
            }
            guard let delay = retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: delay) }
            attempt += 1
        }
        return loop.givenUp(context.cause, "failed", "could not handle \(context.cause.type)", attempts: attempt)
    }

    /// Whether an error tells of the message and its handler, and not of this process or its bus.
    private func isOfMessage(_ error: any Error) -> Bool {
        switch error {
        // Cancelled work of the handler's own is a failure like any other.
        case is CancellationError: !Task.isCancelled
        case let error as BusError: !error.isOfProcess
        default: true
        }
    }
}

/// What a handler knows besides its message.
public struct MessageContext: Sendable {
    /// The message as it travelled. What the handler gives back is caused by it.
    public let cause: Envelope
    public let bus: any EventBus
    /// Its lines carry the message's type and id.
    public let logger: Logger

    init(cause: Envelope, bus: any EventBus, logger: Logger) {
        self.cause = cause
        self.bus = bus
        var logger = logger
        logger[metadataKey: "type"] = "\(cause.type)"
        logger[metadataKey: "id"] = "\(cause.id)"
        self.logger = logger
    }

    /// Publishes at once what cannot wait for the handler's end, such as a document that says `loading`.
    ///
    /// It is not part of the handler's batch: after a crash it is published again, so it must bear repetition.
    public func publish(_ message: some Message) async throws {
        try await bus.publish(Batch([bus.envelope(message, causedBy: cause)]))
    }
}
