internal import Contracts
public import EventBus
public import Foundation
public import Logging
internal import ServiceLifecycle

/// A durable consumer that passes each message to the handler of its type. Each `on` adds a handler:
///
///     MessageConsumer("music-service", in: process)
///         .on(Command.PlaylistSelected.self) { command, context in try await playlists.select(command, context) }
///         .on(Command.DeviceSelected.self) { command, _ in try await player.activate(command.deviceID) }
///
/// The messages that a handler returns are published in one batch with the consumer's progress. After a crash the
/// handler may be called again for the same message. The cases are:
///
/// - If the handler returns, its messages are published.
/// - If the handler throws an `ApplicationError`, that error is published, unless the message is an error itself. It is
///   a final answer; there is no retry.
/// - If the handler throws another error, except an error of the bus such as `unavailable`, it is called again after
///   delays, see ``RetryPolicy``. After the last attempt the message is moved to the dead letters, with the code
///   `<service>.failed`.
/// - If the header cannot be read, or the data of a message that has not expired does not match the type, the message
///   is moved to the dead letters at once, with the code `message.malformed`.
/// - If the broker refuses the results, the message is moved to the dead letters at once, with the code
///   `<service>.refused`.
/// - If the message is a command that has expired, an `event.MessageDiscarded` and the error `command.expired` are
///   published. For a view's report and for the dismissal of a banner, there is no such error.
/// - If the message is a command of a view whose session has ended, an `event.MessageDiscarded` is published, see
///   ``discardingCommandsOfEndedSessions()``.
/// - If the message was sent again to another consumer only, or withdraws a document, nothing is published.
///
/// A dead letter comes with an `ApplicationError` of the same code, unless the message is an error itself or the broker
/// refuses this error. An error that is not an `ApplicationError` is logged and not published.
///
/// A handler may publish a message before it ends, for example a document that says `loading`. Give such a handler the
/// messages that replace it (`whenGivenUp`). They are published if the handler throws an `ApplicationError` or fails in
/// its last attempt, if the broker refuses the handler's results, and if a command that can be decoded has expired.
///
/// If the service is asked to stop during a delay between two attempts, the delay ends. The message is then handled
/// again, after the next start or by another instance. Cancellation ends ``run()``.
///
/// Service instances with the same consumer name share the work: each handles the messages of some subjects, in order.
/// When an instance ends, the others continue with the messages that it had not handled.
public struct MessageConsumer: ReadyService {
    /// A decoded message with its handler.
    private struct Call: Sendable {
        let handle: @Sendable () async throws -> [Envelope]
        let whenGivenUp: @Sendable () -> [any Message]
    }

    /// Decodes the message.
    private typealias Route = @Sendable (MessageContext) throws -> Call

    /// Signalled when the subscription is live.
    public let ready: ReadySignal
    private let consumer: String
    private let bus: any EventBus
    private let logger: Logger
    private let retries: RetryPolicy
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let metrics: ConsumerMetrics
    private var routes: [MessageType: Route] = [:]
    private var discardsCommandsOfEndedSessions = false

    /// - Parameters:
    ///   - consumer: the durable name. Consumers with the same name, in this and other processes, share the messages.
    ///   - ready: signalled when the subscription is live. A service that contains this consumer passes its own signal.
    ///   - metrics: the counts of the process; the consumer updates them.
    ///   - retries: the number of attempts and the delays between them when a handler fails.
    ///   - now: returns the current time. It is compared with the expiry times of commands.
    ///   - clock: measures the pauses between attempts to handle a message or to reach the bus.
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

    /// Adds a handler.
    /// - Parameter whenGivenUp: the messages to publish if the handler fails, for example a document that replaces the
    ///   one that says `loading`.
    /// - Precondition: the type has no handler yet.
    public func on<M: Message>(
        _ type: M.Type, whenGivenUp: @escaping @Sendable (M) -> [any Message] = { _ in [] },
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any Message]
    ) -> MessageConsumer {
        adding(M.type) { context in
            let message = try context.cause.decode(M.self)
            return Call(
                handle: {
                    try await handle(message, context).map { try context.bus.envelope($0, causedBy: context.cause) }
                },
                whenGivenUp: { whenGivenUp(message) })
        }
    }

    /// Handles ``DomainEvent/SessionEnded``: withdraws all documents of these types in the session.
    /// - Parameters:
    ///   - types: the types of the documents that this consumer publishes.
    ///   - forget: removes what the service has stored for the session. It is called before the documents are
    ///     withdrawn; its ``MessageContext/cause`` names the session.
    /// - Precondition: `SessionEnded` has no handler yet.
    public func onSessionEnded(
        withdrawing types: [any DocumentMessage.Type],
        _ forget: @escaping @Sendable (MessageContext) async throws -> Void = { _ in }
    ) -> MessageConsumer {
        let types = types.map { $0.type }
        return adding(DomainEvent.SessionEnded.type) { context in
            Call(
                handle: {
                    try await forget(context)
                    let filters = types.map { MessageFilter.type($0, subject: context.cause.subject) }
                    return try await context.bus.documents(matching: filters).filter { !$0.isTombstone }.map {
                        .withdrawal(
                            $0.type, key: $0.attributes.key, source: context.bus.source,
                            causedBy: context.cause.attributes)
                    }
                },
                whenGivenUp: { [] })
        }
    }

    /// Discards the commands of views whose session has ended, so that their handlers do not publish documents for it
    /// again. A session has ended for a view if there is no ``Document/NavigationState`` of the view's platform.
    /// Commands that name no platform are handled. The broker is asked once for each command that names a platform.
    public func discardingCommandsOfEndedSessions() -> MessageConsumer {
        var consumer = self
        consumer.discardsCommandsOfEndedSessions = true
        return consumer
    }

    private func adding(_ type: MessageType, _ route: @escaping Route) -> MessageConsumer {
        precondition(routes[type] == nil, "\(type) has two handlers")
        var consumer = self
        consumer.routes[type] = route
        return consumer
    }

    /// The types that have a handler, in alphabetical order.
    public var receives: [MessageType] {
        routes.keys.sorted { $0.description < $1.description }
    }

    public func run() async throws {
        let loop = loop
        try await BusRetry(logger: logger, clock: clock).run {
            try await loop.runShared(partitionsAtOnce: Self.partitionsAtOnce) { try await results(of: $0, loop) }
        }
    }

    /// The maximum number of handlers that run at the same time.
    private static let partitionsAtOnce = 16

    private var loop: ConsumerLoop {
        ConsumerLoop(
            consumer, receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
    }

    private func results(of message: Envelope, _ loop: ConsumerLoop) async throws -> Handled {
        guard let route = routes[message.type], !message.isTombstone else { return Handled() }
        let context = MessageContext(cause: message, bus: bus, logger: logger)
        let isExpired = message.type.kind == .command && message.attributes.isExpired(at: now())
        let call: Call
        do {
            call = try route(context)
        } catch let error as BusError where error.code == .malformed {
            if isExpired { return try expired(message, context) }
            return loop.malformed(message, error.message)
        }
        if !isExpired, let discarded = try await discardedAfterSession(message) {
            context.logger.info("discarded: the session has ended")
            return discarded
        }
        let whenGivenUp = try call.whenGivenUp().map { try bus.envelope($0, causedBy: message) }
        // Before the command expired, an attempt that was interrupted may have published a document.
        var handled =
            isExpired
            ? try expired(message, context, whenGivenUp)
            : try await attempts(at: call.handle, whenGivenUp, context, loop)
        handled.whenGivenUp = whenGivenUp
        return handled
    }

    /// The results of a command whose session has ended. Nil if the session stands, or if this consumer handles such
    /// commands.
    private func discardedAfterSession(_ message: Envelope) async throws -> Handled? {
        guard discardsCommandsOfEndedSessions, message.type.kind == .command,
            let platform = message.attributes.platform,
            try await bus.document(Document.NavigationState.type, subject: message.subject, key: platform) == nil
        else { return nil }
        let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: "the session has ended")
        return Handled([try bus.envelope(discarded, causedBy: message)])
    }

    private func expired(
        _ message: Envelope, _ context: MessageContext, _ whenGivenUp: [Envelope] = []
    ) throws -> Handled {
        context.logger.info("discarded: the command has expired")
        return Handled(whenGivenUp + (try message.expired(source: bus.source)))
    }

    /// Calls a handler until it returns, throws a final error, or has used all attempts.
    private func attempts(
        at handler: () async throws -> [Envelope], _ whenGivenUp: [Envelope], _ context: MessageContext,
        _ loop: ConsumerLoop
    ) async throws -> Handled {
        var attempt = 1
        while true {
            do {
                return Handled(try await handler())
            } catch let answer as ApplicationError {
                context.logger.error("the handler answered with an error: \(answer)")
                return Handled(whenGivenUp + loop.answers(answer, to: context.cause))
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("attempt \(attempt) of \(retries.attempts) failed: \(error)")
            }
            guard let delay = retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: delay) }
            attempt += 1
        }
        var handled = loop.givenUp(
            context.cause, "failed", "could not handle \(context.cause.type)", attempts: attempt)
        handled.messages = whenGivenUp + handled.messages
        return handled
    }

    /// True if an error is about the message or its handler, and not about this process or its bus.
    private func isOfMessage(_ error: any Error) -> Bool {
        switch error {
        // If the handler cancels a task of its own, its `CancellationError` is a failure like any other.
        case is CancellationError: !Task.isCancelled
        case let error as BusError: !error.isOfProcess
        default: true
        }
    }
}

/// The surroundings of a handler's call: the message's envelope, the bus and a logger.
public struct MessageContext: Sendable {
    /// The message with its attributes. It is the cause of the messages that the handler returns.
    public let cause: Envelope
    public let bus: any EventBus
    /// A logger whose lines carry the message's type and id.
    public let logger: Logger

    init(cause: Envelope, bus: any EventBus, logger: Logger) {
        self.cause = cause
        self.bus = bus
        var logger = logger
        logger[metadataKey: "type"] = "\(cause.type)"
        logger[metadataKey: "id"] = "\(cause.id)"
        self.logger = logger
    }

    /// Publishes a message at once, before the handler ends: for example a document that says `loading`.
    ///
    /// The message is not part of the handler's batch. After a crash or a failed attempt it may be published again, so
    /// publishing it twice must do no harm.
    public func publish(_ message: some Message) async throws {
        try await bus.publish(Batch([bus.envelope(message, causedBy: cause)]))
    }
}
