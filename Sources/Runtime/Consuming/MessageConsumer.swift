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
/// Messages of one session are handled in order, so a slow handler holds up the messages after it. A handler for which
/// no later message has to wait can run beside the loop, see ``on(_:recordedBy:unfinished:whenGivenUp:work:)``.
///
/// Service instances with the same consumer name share the work: each handles the messages of some subjects, in order.
/// When an instance ends, the others continue with the messages that it had not handled.
public struct MessageConsumer: ReadyService {
    /// A decoded message with its handler.
    private struct Call: Sendable {
        let handle: @Sendable () async throws -> [Envelope]
        let whenGivenUp: @Sendable () -> [any Message]
        /// The type of the messages whose work in the session ends before ``handle`` is called. Nil for most messages.
        var ends: MessageType?
        /// The work that begins when a document of ``handle`` records it. Nil for most messages.
        var work: WorkCall?
    }

    /// Decodes the message.
    private typealias Route = @Sendable (MessageContext) throws -> Call

    /// Signalled when the subscription is live.
    public let ready: ReadySignal
    private let consumer: String
    private let bus: EventBus
    private let logger: Logger
    private let retries: RetryPolicy
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let metrics: ConsumerMetrics
    private var routes: [MessageType: Route] = [:]
    private var records: [WorkRecord] = []
    private var discardsCommandsOfEndedSessions = false

    /// - Parameters:
    ///   - consumer: the durable name. Consumers with the same name, in this and other processes, share the messages.
    ///   - ready: signalled when the subscription is live. A service that contains this consumer passes its own signal.
    ///   - metrics: the counts of the process; the consumer updates them.
    ///   - retries: the number of attempts and the delays between them when a handler fails.
    ///   - now: returns the current time. It is compared with the expiry times of commands.
    ///   - clock: measures the pauses between attempts to handle a message or to reach the bus.
    public init(
        _ consumer: String, bus: EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
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

    /// Adds a handler that runs beside the loop, for example because it waits for a slow server. Later messages of the
    /// session are handled at the same time.
    ///
    /// First `document` is published, with the consumer's progress. Then the work runs, if the document records it. Its
    /// messages are published in one batch, and one of them must replace the document. If the process ends before that,
    /// the work is started again after the next start or by another instance; it gets a message with the same id.
    ///
    /// A session has one piece of work for each type: a newer message ends the work of the older one, which is discarded
    /// with an `event.MessageDiscarded`. The end of the session also ends the work, if there is a handler for it, and so
    /// does a message of another type, see ``on(_:ending:when:handle:)``.
    /// - Parameters:
    ///   - discardsReplaced: false if the work has had its effect when a newer message ends it, for example because it
    ///     follows something until it is ended. The older message is then not discarded.
    ///   - document: returns the document that records the work. If the message only ends earlier work, the document
    ///     records none. It is called in the loop, after the earlier work has ended.
    ///   - unfinished: returns the message that a document records. Nil if the work has finished.
    ///   - whenGivenUp: the messages to publish if the work fails. They must replace the document.
    ///   - work: called again after delays if it throws, as any handler. After the last attempt, an error is published;
    ///     there is no dead letter.
    /// - Precondition: the type has no handler yet.
    package func on<M: Message, D: DocumentMessage>(
        _ type: M.Type, discardsReplaced: Bool = true,
        recordedBy document: @escaping @Sendable (M, MessageContext) async throws -> D,
        unfinished: @escaping @Sendable (D) -> M?, whenGivenUp: @escaping @Sendable (M) -> [any Message],
        work: @escaping @Sendable (M, MessageContext) async throws -> [any Message]
    ) -> MessageConsumer {
        var consumer = adding(M.type) { context in
            let message = try context.cause.decode(M.self)
            @Sendable func envelopes(_ messages: [any Message]) throws -> [Envelope] {
                try messages.map { try context.bus.envelope($0, causedBy: context.cause) }
            }
            return Call(
                handle: { try envelopes([try await document(message, context)]) },
                whenGivenUp: { whenGivenUp(message) },
                ends: M.type,
                work: WorkCall(
                    discardsReplaced: discardsReplaced,
                    work: { try envelopes(try await work(message, context)) },
                    whenGivenUp: { try envelopes(whenGivenUp(message)) }))
        }
        consumer.records.append(WorkRecord(M.self, unfinished: unfinished))
        return consumer
    }

    /// Adds a handler of a message that ends the work of another type in the session, for example because the account
    /// that the work needs has been disconnected.
    ///
    /// The message that started the work is discarded with an `event.MessageDiscarded`. The messages for work that fails
    /// (`whenGivenUp`) replace its document.
    /// - Parameters:
    ///   - work: the type whose work ends. It has a handler that runs beside the loop.
    ///   - isMeant: returns false for a message that ends no work.
    ///   - handle: called after the work has ended.
    /// - Precondition: the type has no handler yet.
    package func on<M: Message>(
        _ type: M.Type, ending work: any Message.Type, when isMeant: @escaping @Sendable (M) -> Bool,
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any Message]
    ) -> MessageConsumer {
        let ended = work.type
        return adding(M.type) { context in
            let message = try context.cause.decode(M.self)
            return Call(
                handle: {
                    try await handle(message, context).map { try context.bus.envelope($0, causedBy: context.cause) }
                },
                whenGivenUp: { [] }, ends: isMeant(message) ? ended : nil)
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
        try await BusRetry(holding: .nothing, logger: logger, clock: clock).run {
            let underWay = SessionWork()
            try await underWay.tasks.run {
                try await loop.runShared(partitionsAtOnce: Self.partitionsAtOnce) { claim, new in
                    try await takeUp(claim, new, underWay)
                } _: {
                    try await results(of: $0, loop, underWay)
                }
            } task: {
                try await run($0, loop, underWay)
            }
        }
    }

    /// The maximum number of handlers that run at the same time: one for each partition, so that slow handlers hold up
    /// no other partition.
    private static let partitionsAtOnce = Partition.count

    private var loop: ConsumerLoop {
        ConsumerLoop(
            consumer, receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
    }

    private func results(
        of message: Envelope, _ loop: ConsumerLoop, _ underWay: SessionWork
    ) async throws -> Handled {
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
        if message.type == DomainEvent.SessionEnded.type {
            try await underWay.end { $0.cause.subject == message.subject }
        }
        let work = isExpired ? nil : call.work
        let ended = isExpired ? [] : try await endWork(of: call.ends, before: message, underWay)
        let whenGivenUp = try call.whenGivenUp().map { try bus.envelope($0, causedBy: message) }
        // Before the command expired, an attempt that was interrupted may have published a document.
        var handled =
            isExpired
            ? try expired(message, context, whenGivenUp)
            : try await attempts(at: call.handle, whenGivenUp, context, loop)
        handled.whenGivenUp = whenGivenUp
        handled.messages += ended
        guard let work, handled.rejection == nil, handled.messages.contains(where: { isRecord($0, of: message) }) else {
            return handled
        }
        let piece = Piece(cause: message, call: work)
        handled.whenRecorded = { underWay.begin(piece) }
        return handled
    }

    // MARK: Work beside the loop

    /// Ends the work of earlier messages of a type in the session. Returns the messages that say so.
    private func endWork(
        of type: MessageType?, before message: Envelope, _ underWay: SessionWork
    ) async throws -> [Envelope] {
        guard let type else { return [] }
        let ended = try await underWay.end { piece in
            piece.cause.type == type && piece.cause.subject == message.subject && piece.cause.id != message.id
        }
        let isReplaced = type == message.type
        var messages: [Envelope] = []
        for piece in ended where piece.call.discardsReplaced || !isReplaced {
            if !isReplaced {
                // The results may have been recorded before the work was ended.
                guard try await isRecorded(piece) else { continue }
                messages += try piece.call.whenGivenUp()
            }
            let reason = "a later \(message.type) of the session has \(isReplaced ? "replaced" : "ended") it"
            messages.append(
                try bus.envelope(
                    DomainEvent.MessageDiscarded(messageID: piece.cause.id, reason: reason), causedBy: piece.cause))
        }
        return messages
    }

    /// Starts the work that the documents of new partitions record.
    private func takeUp(_ claim: ConsumerClaim, _ new: Set<Partition>, _ underWay: SessionWork) async throws {
        guard !records.isEmpty else { return }
        try await underWay.adopt(claim, new: new)
        guard !new.isEmpty else { return }
        for record in records {
            for document in try await bus.documents(matching: [.type(record.document)]) {
                guard new.contains(document.partition), let cause = record.cause(document),
                    let call = try? routes[cause.type]?(MessageContext(cause: cause, bus: bus, logger: logger)),
                    let work = call.work
                else { continue }
                underWay.begin(Piece(cause: cause, call: work))
            }
        }
    }

    /// Runs a piece of work, and publishes its results.
    private func run(_ piece: Piece, _ loop: ConsumerLoop, _ underWay: SessionWork) async throws {
        let context = MessageContext(cause: piece.cause, bus: bus, logger: logger)
        try await piece.task.run {
            defer { underWay.forget(piece) }
            do {
                let whenGivenUp = try piece.call.whenGivenUp()
                let results = try await attempts(at: piece.call.work, whenGivenUp, context, loop)
                do {
                    try await publish(results.messages, of: piece, underWay)
                } catch let error as BusError where !error.isOfProcess {
                    context.logger.error("the bus refused the results of the work: \(error)")
                    let error = loop.givenUp(
                        piece.cause, "refused", "published results for \(piece.cause.type) that the bus refused")
                    try await publish(whenGivenUp + error.messages, of: piece, underWay)
                }
            } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
                // The next process, or the next owner of the partition, starts the work again.
            } catch let error as BusError where !error.isOfProcess {
                context.logger.error("the end of the work could not be published: \(error)")
            }
        }
    }

    /// Publishes the results of a piece of work, unless another member has got its partition.
    private func publish(_ messages: [Envelope], of piece: Piece, _ underWay: SessionWork) async throws {
        var batch: Batch?
        var epoch: UInt64?
        // While the bus is unavailable, the batch is kept. If the claim is renewed meanwhile, the results are published
        // under the new one.
        let retry = BusRetry(holding: .renewedClaim, logger: logger, clock: clock)
        try await retry.runUntilShutdown {
            guard let claim = underWay.claim else { return }
            if batch == nil || epoch != claim.ownerEpoch {
                // The batch of the former claim may have been recorded. Then the document records no work any more.
                if batch != nil, try await !isRecorded(piece) { return }
                guard let fence = Checkpoint(guarding: piece.cause.partition, of: claim) else { return }
                batch = Batch(messages, checkpoint: fence)
                epoch = claim.ownerEpoch
            }
            if let batch { try await bus.publish(batch) }
        }
    }

    /// True if a document still records the work as unfinished.
    private func isRecorded(_ piece: Piece) async throws -> Bool {
        for record in records {
            let filter = MessageFilter.type(record.document, subject: piece.cause.subject)
            let documents = try await bus.documents(matching: [filter])
            if documents.contains(where: { isRecord($0, of: piece.cause) }) { return true }
        }
        return false
    }

    /// True if a document records the unfinished work of a message.
    private func isRecord(_ document: Envelope, of cause: Envelope) -> Bool {
        records.contains { $0.document == document.type && $0.cause(document)?.id == cause.id }
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
                context.logger.info("the handler answered with an error: \(answer)")
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
    public let bus: EventBus
    /// A logger whose lines carry the message's type and id.
    public let logger: Logger

    init(cause: Envelope, bus: EventBus, logger: Logger) {
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
    public func publish(_ message: some PublishableMessage) async throws {
        try await bus.publish(Batch([bus.envelope(message, causedBy: cause)]))
    }
}
