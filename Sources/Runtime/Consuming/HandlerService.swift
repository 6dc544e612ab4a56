internal import Contracts
public import EventBus
internal import Foundation
public import Logging
internal import Navigation
internal import ServiceLifecycle

/// Runs ``Handlers`` on a bus: it claims the partitions of the durable consumer, reads, handles and commits, and answers
/// the queries.
///
/// If the service is asked to stop during a delay between two attempts, the delay ends. The message is then handled
/// again, after the next start or by another process. Cancellation ends ``run()``.
///
/// When a process ends, the other processes with the same consumer continue with the messages, the work and the
/// scheduled commands that it had not finished.
public struct HandlerService: ReadyService {
    /// Signalled when the subscription is live and queries can arrive.
    public let ready: ReadySignal
    private let handlers: Handlers
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: ServiceClock

    /// - Parameters:
    ///   - ready: signalled when the subscription is live and queries can arrive. A service that contains this one
    ///     passes its own signal.
    ///   - metrics: the counts of the process; the service updates them.
    ///   - clock: the clocks of expiry times, delays and scheduled commands.
    public init(
        _ handlers: Handlers, bus: EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
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
        let (live, serving) = (ReadySignal(), ReadySignal())
        let consumes = !handlers.consumes.isEmpty
        let answers = !handlers.answers.isEmpty
        if !consumes { live.signal() }
        if !answers { serving.signal() }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await withThrowingTaskGroup { group in
                    if consumes { group.addTask { try await consume(whenLive: live.signal) } }
                    if answers {
                        let server = QueryServer(handlers.answers, bus: bus, logger: logger, clock: clock)
                        group.addTask { try await server.run(whenServing: serving.signal) }
                    }
                    try await group.waitForAll()
                }
                return true
            }
            group.addTask {
                guard (try? await live.wait()) != nil, (try? await serving.wait()) != nil else { return false }
                ready.signal()
                return false
            }
            while let haveEnded = try await group.next() {
                if haveEnded { group.cancelAll() }
            }
        }
    }

    private func consume(whenLive: @escaping @Sendable () -> Void) async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock.clock).run {
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
    private let underWay = RunningWork()
    private let scheduled: ScheduledCommands

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
            clock: clock.clock, timers: handlers.schedulesCommands ? scheduled.timers : nil, whenLive: whenLive)
    }

    func run() async throws {
        try await underWay.tasks.run {
            try await loop.runShared(partitionsAtOnce: Self.partitionsAtOnce) { claim, new in
                try await takeUp(claim, new)
            } _: {
                try await results(of: $0)
            }
        } task: {
            try await run($0)
        }
    }

    // MARK: Handling

    /// The results of a message. An error of the message that is not one of its handler's calls gives it up, too.
    private func results(of message: Envelope) async throws -> Handled {
        do {
            return try await handle(message)
        } catch let error as InvalidResult {
            return invalid(message, error)
        } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
            throw CancellationError()
        } catch  where isOfMessage(error) {
            logger.error("could not handle a message: \(error)", metadata: ["id": "\(message.id)"])
            return loop.givenUp(message, "failed", "could not handle \(message.type)")
        }
    }

    private func handle(_ message: Envelope) async throws -> Handled {
        guard !message.isTombstone else { return Handled() }
        let losses = underWay.losses(of: message.partition)
        let route = handlers.routes[message.type]
        let context = context(of: message, sends: route?.sends, after: losses)
        let isExpired = message.type.kind == .command && message.attributes.isExpired(at: clock.now())
        let call: Route.Call?
        do {
            call = try route?.call(context)
        } catch let error as BusError where error.code == .malformed {
            if isExpired { return try expired(message, context) }
            return loop.malformed(message, error.message)
        }
        if let discarded = try await discardedAfterSession(message, context) { return discarded }
        let givenUp = try envelopes(of: call?.whenGivenUp ?? [], context, route?.sends)
        // Before the command expired, an attempt that was interrupted may have published a document.
        if isExpired { return try expired(message, context, givenUp) }
        let kind = route?.begins.flatMap { handlers.works[$0] }
        if let kind, let reason = try await reasonToRefuse(kind, message) { return try discarded(message, reason) }

        let ended = try await endWork(before: message, call, after: losses)
        var handled = try await attempts(whenGivenUp: givenUp, context) {
            var messages = try envelopes(
                of: try await call?.handle() ?? [], context, route?.sends, mayChangeTimers: true)
            if message.type == DomainEvent.SessionEnded.type { messages += try await endOfSession(context) }
            return try scheduled.recording(Handled(messages), in: message.subject)
        }
        let replaced = Set(handled.messages.map(DocumentName.init))
        let left = ended.filter { !replaced.contains($0.piece.document) }.flatMap(\.document)
        handled.whenGivenUp = givenUp + ended.flatMap(\.document)
        handled.messages += left + ended.flatMap(\.notice)
        if let kind, handled.rejection == nil, let piece = piece(of: kind, begunBy: message, in: handled.messages) {
            handled.whenRecorded = { [underWay, whenRecorded = handled.whenRecorded] in
                whenRecorded?()
                underWay.begin(piece)
            }
        }
        return handled
    }

    /// - Parameter losses: the number of losses of the partition when the handler or the work was begun.
    private func context(
        of message: Envelope, sends declared: DeclaredMessages?, after losses: Int
    ) -> MessageContext {
        MessageContext(cause: message, bus: bus, logger: logger, time: clock.now()) {
            try check($0.type, declared, in: message)
            try await publish([$0], in: message.partition, after: losses)
        }
    }

    /// The results of a handler as messages.
    /// - Throws: ``InvalidResult``.
    private func envelopes(
        of results: [any HandlerResult], _ context: MessageContext, _ declared: DeclaredMessages?,
        mayChangeTimers: Bool = false
    ) throws -> [Envelope] {
        guard mayChangeTimers || !results.contains(where: { $0.changesTimers }) else {
            throw InvalidResult("schedules a command or takes one back, which only the results of a handler can do")
        }
        guard results.count(where: { $0 is LaterCommand }) <= LaterCommand.maximumInResult else {
            throw InvalidResult("schedules more than \(LaterCommand.maximumInResult) commands at once")
        }
        return try results.map { result in
            let type: MessageType
            let envelope: Envelope
            switch result {
            case let message as any Message:
                type = Swift.type(of: message).type
                envelope = try bus.envelope(message, causedBy: context.cause)
            case let later as LaterCommand:
                type = Swift.type(of: later.command).type
                envelope = try bus.envelope(
                    later.document(of: handlers.name, now: context.time), causedBy: context.cause)
            case let withdrawal as Withdrawal:
                type = withdrawal.type
                envelope = withdrawal.envelope(of: handlers.name, source: bus.source, causedBy: context.cause)
            default:
                throw InvalidResult("returned a result of an unknown type")
            }
            try check(type, declared, in: context.cause)
            return envelope
        }
    }

    /// - Throws: ``InvalidResult`` if the handler of a message does not declare a type that it sends.
    private func check(_ type: MessageType, _ declared: DeclaredMessages?, in message: Envelope) throws {
        guard declared?.contains(type) == true || Self.undeclared.contains(type) else {
            throw InvalidResult("sends \(type), which its handler of \(message.type) does not declare")
        }
    }

    /// The types that a handler may send without a declaration. A command that was to be sent later can be withdrawn by
    /// any handler.
    private static let undeclared: Set<MessageType> = [
        ApplicationError.type, DomainEvent.MessageDiscarded.type, Document.ScheduledCommand.type,
    ]

    /// Calls a handler until it returns, throws a final error, or has used all attempts.
    private func attempts(
        whenGivenUp: [Envelope], _ context: MessageContext, _ handler: () async throws -> Handled
    ) async throws -> Handled {
        var attempt = 1
        while true {
            do {
                return try await handler()
            } catch let answer as ApplicationError {
                context.logger.info("the handler answered with an error: \(answer)")
                return Handled(whenGivenUp + loop.answers(answer, to: context.cause))
            } catch let error as InvalidResult {
                var handled = invalid(context.cause, error)
                handled.messages = whenGivenUp + handled.messages
                return handled
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("attempt \(attempt) of \(handlers.retries.attempts) failed: \(error)")
            }
            guard let delay = handlers.retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.clock.sleep(for: delay) }
            attempt += 1
        }
        var handled = loop.givenUp(
            context.cause, "failed", "could not handle \(context.cause.type)", attempts: attempt)
        handled.messages = whenGivenUp + handled.messages
        return handled
    }

    private func invalid(_ message: Envelope, _ error: InvalidResult) -> Handled {
        logger.error("the handler \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
        return loop.givenUp(message, "invalid", "\(error)")
    }

    /// True if an error is about the message or its handler, and not about this process or its bus.
    private func isOfMessage(_ error: any Error) -> Bool {
        switch error {
        case is PartitionLost: false
        // If the handler cancels a task of its own, its `CancellationError` is a failure like any other.
        case is CancellationError: !Task.isCancelled
        case let error as BusError: !error.isOfProcess
        default: true
        }
    }

    /// Publishes messages before the handler or the work of a message ends, unless another member has got the partition.
    /// - Throws: ``PartitionLost``, and ``BusError`` with the code `refused` or `malformed`.
    /// - Parameter losses: the number of losses of the partition when the handler or the work was begun.
    private func publish(_ messages: [Envelope], in partition: Partition, after losses: Int) async throws {
        // While the bus is unavailable, the messages are kept. If the claim is renewed meanwhile, they are published
        // under the new one, even if they have been recorded under the former one.
        let retry = BusRetry(holding: .renewedClaim, logger: logger, clock: clock.clock)
        try await retry.runUntilShutdown {
            guard let claim = underWay.claim, let fence = Checkpoint(guarding: partition, of: claim),
                underWay.losses(of: partition) == losses
            else { throw PartitionLost() }
            try await bus.publish(Batch(messages, checkpoint: fence))
        }
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
        _ message: Envelope, _ context: MessageContext, _ whenGivenUp: [Envelope] = []
    ) throws -> Handled {
        context.logger.info("discarded: the command has expired")
        return Handled(whenGivenUp + (try message.expired(source: bus.source)))
    }

    // MARK: Work beside the loop

    /// A piece of work that has been ended, with the messages that say so.
    private struct EndedWork {
        let piece: PieceOfWork
        /// The message that replaces or withdraws the document of the work. Nil if the document is kept.
        var document: [Envelope] = []
        /// The `event.MessageDiscarded` about the message that began the work. Nil if it is not discarded.
        var notice: [Envelope] = []
    }

    /// Ends the work that a message ends: work that it replaces, work that its handler names, and the work of a screen
    /// or session that has ended.
    /// - Parameter losses: the number of losses of the partition when the handler was called.
    private func endWork(
        before message: Envelope, _ call: Route.Call?, after losses: Int
    ) async throws -> [EndedWork] {
        func end(where isMeant: (PieceOfWork) -> Bool) async throws -> [PieceOfWork] {
            try await underWay.end(in: message.partition, after: losses, where: isMeant)
        }
        if message.type == DomainEvent.SessionEnded.type {
            // If the handler succeeds, the documents are withdrawn with the others of the session.
            return try await end { $0.cause.subject == message.subject }.map { piece in
                let name = piece.document
                return EndedWork(
                    piece: piece,
                    document: [
                        .withdrawal(name.type, key: name.key, source: bus.source, causedBy: message.attributes)
                    ])
            }
        }
        if message.type == DomainEvent.ScreenDismissed.type,
            let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self)
        {
            let (platform, session) = (message.attributes.platform, message.subject)
            let pieces = try await end {
                $0.kind.scope == .screen && $0.isOf(instance: dismissed.instance, platform, session: session)
            }
            var ended: [EndedWork] = []
            for piece in pieces {
                guard try await isRecorded(piece) else { continue }
                ended.append(EndedWork(piece: piece, document: try endMessages(of: piece)))
            }
            return ended
        }
        guard let record = call?.ends else { return [] }
        let isReplaced = handlers.routes[message.type]?.begins == record
        let pieces = try await end { piece in
            guard piece.kind.record == record else { return false }
            return isReplaced
                ? piece.isReplaced(by: message) : piece.cause.subject == message.subject && piece.cause.id != message.id
        }
        var ended: [EndedWork] = []
        for piece in pieces {
            // The results may have been recorded before the work was ended.
            guard try await isRecorded(piece) else { continue }
            var work = EndedWork(piece: piece, document: try endMessages(of: piece))
            if piece.kind.discardsReplaced || !isReplaced {
                let reason = "a later \(message.type) of the session has \(isReplaced ? "replaced" : "ended") it"
                let discarded = DomainEvent.MessageDiscarded(messageID: piece.cause.id, reason: reason)
                work.notice = [try bus.envelope(discarded, causedBy: piece.cause)]
            }
            ended.append(work)
        }
        return ended
    }

    private func endMessages(of piece: PieceOfWork) throws -> [Envelope] {
        let losses = underWay.losses(of: piece.cause.partition)
        let context = context(of: piece.cause, sends: piece.kind.sends, after: losses)
        return try envelopes(of: [piece.ended], context, piece.kind.sends)
    }

    /// The reason why a message of a screen begins no work. Nil if it begins work.
    private func reasonToRefuse(_ kind: WorkKind, _ message: Envelope) async throws -> String? {
        guard kind.scope == .screen else { return nil }
        guard message.attributes.platform != nil, let instance = message.attributes.instance else {
            return "the message names no platform or no screen instance, so its work would never be ended"
        }
        if try await isOpen(message) { return nil }
        return "there is no screen instance '\(instance)'; it may have been dismissed"
    }

    /// True if the screen instance that a message comes from is open.
    private func isOpen(_ message: Envelope) async throws -> Bool {
        guard let platform = message.attributes.platform, let instance = message.attributes.instance else {
            return false
        }
        do {
            let state = try await bus.document(
                Document.NavigationState.self, subject: message.subject, key: platform)
            return state?.snapshot.state.isStanding(instance) ?? false
        } catch let error as BusError where [.malformed, .refused].contains(error.code) {
            // Another version wrote the state, or the platform's name is invalid.
            return false
        }
    }

    private func piece(of kind: WorkKind, begunBy message: Envelope, in messages: [Envelope]) -> PieceOfWork? {
        messages.lazy.filter { $0.type == kind.record }.compactMap { PieceOfWork(kind, recordedBy: $0) }
            .first { $0.cause.id == message.id }
    }

    /// Starts the work and the timers that the documents of new partitions record. Ends the work of screens that have
    /// been dismissed meanwhile.
    private func takeUp(_ claim: ConsumerClaim, _ new: Set<Partition>) async throws {
        try await underWay.adopt(claim, new: new)
        if handlers.schedulesCommands { try await scheduled.take(claim, new: new, on: bus) }
        guard !new.isEmpty else { return }
        for kind in handlers.works.values {
            // A session or a screen has one piece of work, whatever documents a stranger has published.
            var pieces: [[String?]: PieceOfWork] = [:]
            for document in try await bus.documents(matching: [.type(kind.record)]) {
                guard new.contains(document.partition), let piece = PieceOfWork(kind, recordedBy: document) else {
                    continue
                }
                pieces[kind.scope.place(of: piece.cause)] = piece
            }
            for piece in pieces.values {
                guard kind.scope == .screen, try await !isOpen(piece.cause) else {
                    underWay.begin(piece)
                    continue
                }
                do {
                    let fence = Checkpoint(guarding: piece.cause.partition, of: claim)
                    try await bus.publish(Batch(try endMessages(of: piece), checkpoint: fence))
                } catch let error as BusError where [.refused, .malformed].contains(error.code) {
                    logger.error("work cannot be ended: \(error)", metadata: ["id": "\(piece.cause.id)"])
                }
            }
        }
    }

    /// Runs a piece of work, and publishes its results.
    private func run(_ piece: PieceOfWork) async throws {
        let losses = underWay.losses(of: piece.cause.partition)
        let context = context(of: piece.cause, sends: piece.kind.sends, after: losses)
        try await piece.task.run {
            defer { underWay.forget(piece) }
            do {
                let whenGivenUp = try endMessages(of: piece)
                let results = try await attempts(whenGivenUp: whenGivenUp, context) {
                    Handled(try envelopes(of: try await piece.kind.run(context), context, piece.kind.sends))
                }
                do {
                    try await publish(results.messages, of: piece, after: losses)
                } catch let error as BusError where !error.isOfProcess {
                    context.logger.error("the bus refused the results of the work: \(error)")
                    let error = loop.givenUp(
                        piece.cause, "refused", "published results for \(piece.cause.type) that the bus refused")
                    try await publish(whenGivenUp + error.messages, of: piece, after: losses)
                }
            } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
                // The next process, or the next owner of the partition, starts the work again.
            } catch is PartitionLost {
                // The next owner of the partition has started the work again.
            } catch let error as BusError where !error.isOfProcess {
                context.logger.error("the end of the work could not be published: \(error)")
            }
        }
    }

    /// Publishes the results of a piece of work, and withdraws its document if they do not replace it, unless another
    /// member has got the partition.
    private func publish(_ messages: [Envelope], of piece: PieceOfWork, after losses: Int) async throws {
        var messages = messages
        if !messages.contains(where: { DocumentName($0) == piece.document }) {
            let (name, cause) = (piece.document, piece.cause.attributes)
            messages.append(.withdrawal(name.type, key: name.key, source: bus.source, causedBy: cause))
        }
        var batch: Batch?
        var epoch: UInt64?
        // While the bus is unavailable, the batch is kept. If the claim is renewed meanwhile, the results are published
        // under the new one.
        let retry = BusRetry(holding: .renewedClaim, logger: logger, clock: clock.clock)
        try await retry.runUntilShutdown {
            guard let claim = underWay.claim, underWay.losses(of: piece.cause.partition) == losses else { return }
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

    /// True if the document of a piece still records it as unfinished.
    private func isRecorded(_ piece: PieceOfWork) async throws -> Bool {
        let name = piece.document
        guard let document = try await bus.document(name.type, subject: name.subject, key: name.key) else {
            return false
        }
        return PieceOfWork(piece.kind, recordedBy: document)?.cause.id == piece.cause.id
    }
}
