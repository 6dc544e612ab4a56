internal import Contracts
public import EventBus
internal import Foundation
public import Logging
internal import ServiceLifecycle
public import Support

/// Runs ``Handlers`` on a bus: it claims the partitions of the durable consumer, reads, handles and commits, and
/// answers the queries.
///
/// If the service is asked to stop during a delay between two attempts, the delay ends. The message is then handled
/// again, after the next start or by another process. Cancellation ends ``run()``.
///
/// When a process ends, the other processes with the same consumer continue with the messages, the work and the
/// scheduled commands that it had not finished.
public struct HandlerService: ReadyService {
    /// Opened when the subscription is live and queries can arrive.
    public let ready: Latch
    private let handlers: Handlers
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: ServiceClock

    /// - Parameters:
    ///   - ready: opened when the subscription is live and queries can arrive. A service that contains this one
    ///     passes its own latch.
    ///   - metrics: the counts of the process; the service updates them.
    ///   - clock: the clocks of expiry times, delays and scheduled commands.
    public init(
        _ handlers: Handlers, bus: EventBus, logger: Logger, ready: Latch = Latch(),
        metrics: ConsumerMetrics = ConsumerMetrics(), clock: ServiceClock = .system
    ) {
        self.handlers = handlers
        self.bus = bus
        self.logger = logger
        self.ready = ready
        self.metrics = metrics
        self.clock = clock
    }

    public func run() async throws {
        let (live, serving) = (Latch(), Latch())
        let consumes = !handlers.consumes.isEmpty
        let answers = !handlers.answers.isEmpty
        if !consumes { live.open() }
        if !answers { serving.open() }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await withThrowingTaskGroup { group in
                    if consumes { group.addTask { try await consume(whenLive: live.open) } }
                    if answers {
                        let server = QueryServer(handlers.answers, bus: bus, logger: logger, clock: clock)
                        group.addTask { try await server.run(whenServing: serving.open) }
                    }
                    try await group.waitForAll()
                }
                return true
            }
            group.addTask {
                for latch in [live, serving] { await latch.waitUntilOpenOrCancelled() }
                if !Task.isCancelled { ready.open() }
                return false
            }
            while let haveEnded = try await group.next() {
                if haveEnded { group.cancelAll() }
            }
        }
    }

    private func consume(whenLive: @escaping @Sendable () -> Void) async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock.pauses).run {
            let consumer = HandlerConsumer(
                handlers, bus: bus, logger: logger, metrics: metrics, clock: clock, whenLive: whenLive)
            try await consumer.run()
        }
    }
}

/// One run of the durable consumer of some handlers.
private struct HandlerConsumer: Sendable {
    /// The maximum number of handlers that run at the same time: one for each partition, so that slow handlers hold up
    /// no other partition.
    private static let partitionsAtOnce = Partition.count

    private let handlers: Handlers
    private let bus: EventBus
    private let logger: Logger
    private let clock: ServiceClock
    private let loop: ConsumerLoop
    private let scheduled: ScheduledCommands
    private let running = RunningWork()
    private let invoker: HandlerInvoker
    private let work: WorkRunner

    init(
        _ handlers: Handlers, bus: EventBus, logger: Logger, metrics: ConsumerMetrics, clock: ServiceClock,
        whenLive: @escaping @Sendable () -> Void
    ) {
        self.handlers = handlers
        self.bus = bus
        self.logger = logger
        self.clock = clock
        scheduled = ScheduledCommands(of: handlers.name, source: bus.source, clock: clock)
        loop = ConsumerLoop(
            handlers.name, handlers.consumes.map { .type($0) }, bus: bus, logger: logger, metrics: metrics,
            clock: clock.pauses, timers: handlers.schedulesCommands ? scheduled.timers : nil, whenLive: whenLive)
        invoker = HandlerInvoker(
            handlers, bus: bus, logger: logger, clock: clock, loop: loop, running: running)
        work = WorkRunner(
            handlers, bus: bus, logger: logger, clock: clock, loop: loop, invoker: invoker, running: running)
    }

    func run() async throws {
        try await work.run {
            try await loop.runShared(partitionsAtOnce: Self.partitionsAtOnce) { claim, new in
                try await running.adopt(claim, new: new)
                if handlers.schedulesCommands { try await scheduled.adopt(claim, new: new, on: bus) }
                try await work.resume(claim, new)
            } _: {
                try await results(of: $0)
            }
        }
    }

    // MARK: Handling

    /// The results of a message. An error of the message that is not one of its handler's calls gives it up, too.
    private func results(of message: Envelope) async throws -> Handled {
        do {
            return try await handle(message)
        } catch let error as InvalidResult {
            return invoker.invalid(message, error)
        } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
            throw CancellationError()
        } catch  where invoker.isOfMessage(error) {
            logger.error("could not handle a message: \(error)", metadata: ["id": "\(message.id)"])
            return loop.givenUp(message, as: "failed", because: "could not handle \(message.type)")
        }
    }

    private func handle(_ message: Envelope) async throws -> Handled {
        guard !message.isTombstone else { return Handled() }
        let losses = running.losses(of: message.partition)
        let route = handlers.routes[message.type]
        let declared = route?.sends ?? DeclaredMessages()
        let context = invoker.context(of: message, sends: declared, after: losses)
        let isExpired = message.type.kind == .command && message.attributes.isExpired(at: clock.now())
        let call: Route.Call?
        do {
            call = try route?.call(context)
        } catch let error as BusError where error.code == .malformed {
            if isExpired { return try expired(message, in: context) }
            return loop.malformed(message, error.message)
        }
        if let discarded = try await discardedAfterSession(message, context) { return discarded }
        let givenUp = try invoker.envelopes(of: call?.whenGivenUp ?? [], context, declared)
        // Before the command expired, an attempt that was interrupted may have published a document.
        if isExpired { return try expired(message, in: context, after: givenUp) }
        let kind = route?.begins.flatMap { handlers.works[$0] }
        if let kind, let reason = try await work.reasonToRefuse(kind, message) { return try discarded(message, reason) }

        let ended = try await work.end(before: message, call, after: losses)
        var handled = try await invoker.attempts(whenGivenUp: givenUp, context) {
            var messages = try invoker.envelopes(
                of: try await call?.handle() ?? [], context, declared, mayChangeTimers: true)
            if message.type == DomainEvent.SessionEnded.type { messages += try await endOfSession(context) }
            return try scheduled.recording(Handled(messages), in: message.subject)
        }
        let replaced = Set(handled.messages.map(DocumentName.init))
        let left = ended.filter { !replaced.contains($0.piece.document) }.flatMap(\.document)
        handled.whenGivenUp = givenUp + ended.flatMap(\.document)
        handled.messages += left + ended.flatMap(\.notice)
        return kind.map { work.beginning($0, of: message, when: handled) } ?? handled
    }

    // MARK: Ended sessions and expired commands

    /// Forgets a session, and returns the withdrawals of its documents.
    private func endOfSession(_ context: MessageContext) async throws -> [Envelope] {
        try await handlers.forgetSession(context)
        let filters = handlers.documents.map { MessageFilter.type($0, subject: context.session) }
        guard !filters.isEmpty else { return [] }
        let documents = try await bus.documents(matching: filters).filter { scheduled.isOwn($0) }
        if documents.count > Self.withdrawalCount {
            context.logger.error("of \(documents.count) documents, \(Self.withdrawalCount) are withdrawn")
        }
        return documents.prefix(Self.withdrawalCount).map {
            .withdrawal(
                $0.type, key: $0.attributes.key, source: bus.source, causedBy: context.cause.attributes)
        }
    }

    /// The maximum number of documents that the end of a session withdraws: they are one batch.
    private static let withdrawalCount = 1000

    /// The results of a command whose session has ended. Nil if the session is open, or if this consumer handles such
    /// commands.
    private func discardedAfterSession(_ message: Envelope, _ context: MessageContext) async throws -> Handled? {
        guard handlers.discardsCommandsOfEndedSessions, message.type.kind == .command,
            let platform = message.attributes.platform,
            try await bus.document(Document.NavigationState.type, subject: message.subject, key: platform) == nil
        else { return nil }
        context.logger.info("discarded: the session has ended")
        return try discarded(message, "the session has ended")
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Handled {
        Handled([
            try bus.envelope(DomainEvent.MessageDiscarded(messageID: message.id, reason: reason), causedBy: message)
        ])
    }

    private func expired(
        _ message: Envelope, in context: MessageContext, after whenGivenUp: [Envelope] = []
    ) throws -> Handled {
        context.logger.info("discarded: the command has expired")
        return Handled(whenGivenUp + (try message.expired(source: bus.source)))
    }
}
