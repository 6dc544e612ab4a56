internal import Contracts
public import EventBus
public import Foundation
public import Logging
internal import Navigation
internal import Support
internal import Synchronization

/// Work that belongs to a screen instance. A command from the instance starts it, and the dismissal of the instance
/// ends it, whatever the reason for the dismissal.
///
///     ScreenWork("timer-service", in: process)
///         .on(Command.TimerRequested.self) { _, context in
///             while true { try await context.publish(tick()); try await clock.sleep(for: .seconds(1)) }
///         }
///
/// Each piece of work is a child task of ``run()``. When its instance is dismissed, the task is cancelled. The
/// dismissal counts as handled only after the task has ended.
///
/// A `document.ScreenWork` records each running piece of work. The document is published in one batch with the
/// consumer's progress. After a crash, the restarted service calls the handler again with the same message, unless the
/// instance has been dismissed.
///
/// A command whose instance is gone starts nothing and is discarded with an `event.MessageDiscarded`. An instance has
/// one piece of work for each command type: a newer command replaces the work of the older one.
///
/// One process does the work of all sessions. If a second process with the same consumer name starts, it takes over,
/// and the first process fails with the error `fenced`.
public struct ScreenWork: ReadyService {
    /// Decodes the message, and returns the call of its handler.
    private typealias Begin = @Sendable (MessageContext) throws -> @Sendable () async throws -> Void

    private struct Route: Sendable {
        let begin: Begin
        let withdraws: [MessageType]
    }

    /// Signalled when the subscription is live.
    public let ready: ReadySignal
    private let consumer: String
    private let bus: EventBus
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let metrics: ConsumerMetrics
    private let clock: any Clock<Duration>
    private var routes: [MessageType: Route] = [:]

    /// - Parameters:
    ///   - consumer: the durable name.
    ///   - ready: signalled when the subscription is live. A service that contains this work passes its own signal.
    ///   - metrics: the counts of the process; the consumer updates them.
    ///   - now: returns the current time. It is compared with the expiry times of commands.
    ///   - clock: measures the pauses between attempts to reach the bus.
    public init(
        _ consumer: String, bus: EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
        metrics: ConsumerMetrics = ConsumerMetrics(), now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.consumer = consumer
        self.bus = bus
        self.logger = logger
        self.ready = ready
        self.metrics = metrics
        self.now = now
        self.clock = clock
    }

    /// Adds a handler.
    /// - Parameters:
    ///   - types: the types of the documents to withdraw if the instance is dismissed while the work runs. Of each
    ///     type, the document whose key is the id of the instance is withdrawn.
    ///   - work: the work. It may return. It is cancelled when its instance is dismissed, when a newer command replaces
    ///     it and when the service stops. If it throws an error, except the errors of the bus below, the error is
    ///     logged, an `ApplicationError` is published, and the work is not started again. After the ``BusError``
    ///     `unavailable`, `journal` or `epoch`, the work is started again when the bus answers. The errors `fenced`,
    ///     `closed` and `address` end ``run()``.
    /// - Precondition: the type has no handler yet.
    public func on<C: CommandMessage>(
        _ type: C.Type, withdrawing types: [MessageType] = [],
        work: @escaping @Sendable (C, MessageContext) async throws -> Void
    ) -> ScreenWork {
        precondition(routes[C.type] == nil, "\(C.type) has two handlers")
        var copy = self
        let begin: Begin = { context in
            let message = try context.cause.decode(C.self)
            return { try await work(message, context) }
        }
        copy.routes[C.type] = Route(begin: begin, withdraws: types)
        return copy
    }

    /// The types that the service receives, in alphabetical order.
    public var receives: [MessageType] {
        (routes.keys + [DomainEvent.ScreenDismissed.type, DomainEvent.SessionEnded.type])
            .sorted { $0.description < $1.description }
    }

    public func run() async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock).run { try await work() }
    }

    private func work() async throws {
        let loop = ConsumerLoop(
            consumer, receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
        guard let claim = try await loop.claim() else { return }
        try await loop.tellCutOffs(of: claim)
        let underWay = WorkUnderWay()
        try await takeUp(underWay)
        try await underWay.tasks.run {
            try await loop.run(under: claim, partitionsAtOnce: Self.partitionsAtOnce) {
                try await results(of: $0, underWay, loop)
            }
        } task: {
            try await run($0, underWay)
        }
    }

    /// The maximum number of partitions whose messages are handled at the same time.
    private static let partitionsAtOnce = 16

    /// Starts the recorded work again. Withdraws the documents of work whose instance has been dismissed, or whose
    /// command this service cannot handle any more.
    private func takeUp(_ underWay: WorkUnderWay) async throws {
        for document in try await bus.documents(matching: [.type(Document.ScreenWork.self)]) {
            guard let work = try? document.decode(Document.ScreenWork.self), work.consumer == consumer else { continue }
            let cause = Envelope(attributes: work.attributes, data: Data(work.data.description.utf8))
            guard let piece = PieceOfWork(cause, try? call(for: cause)) else { continue }
            do {
                if try await isStanding(piece), piece.isCallable {
                    underWay.start(piece)
                } else {
                    try await bus.publish(Batch(withdrawals(of: piece, causedBy: document)))
                }
            } catch let error as BusError where error.code == .refused {
                logger.error("the work cannot be withdrawn: \(error)", metadata: ["id": "\(cause.id)"])
                try await bus.publish(
                    Batch([
                        .withdrawal(
                            document.type, key: document.attributes.key, source: bus.source,
                            causedBy: document.attributes)
                    ]))
            }
        }
    }

    private func results(of message: Envelope, _ underWay: WorkUnderWay, _ loop: ConsumerLoop) async throws -> Handled {
        do {
            return switch message.type {
            case DomainEvent.ScreenDismissed.type: try await endWork(ofInstance: message, underWay)
            case DomainEvent.SessionEnded.type: try await endWork(ofSession: message, underWay)
            default: try await begin(message, underWay, loop)
            }
        } catch let error as BusError where !error.isOfProcess {
            logger.error("gave up the message: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            return loop.givenUp(message, "failed", "could not handle \(message.type)")
        }
    }

    /// Starts the work of a command. It replaces the work that an earlier command of the same type from the same
    /// instance started. The work starts after its document is recorded.
    private func begin(
        _ message: Envelope, _ underWay: WorkUnderWay, _ loop: ConsumerLoop
    ) async throws -> Handled {
        if message.attributes.isExpired(at: now()) { return Handled(try message.expired(source: bus.source)) }
        let data: JSONValue
        let call: PieceOfWork.Call
        do {
            call = try self.call(for: message)
            data = try JSONValue(parsing: message.data)
        } catch let error as BusError where error.code == .malformed {
            return loop.malformed(message, error.message)
        } catch let error as DecodingError {
            return loop.malformed(message, error.summary)
        }
        guard let piece = PieceOfWork(message, call) else {
            return try discarded(
                message, "the command names no platform or no screen instance, so its work would never be ended")
        }
        // The navigation state shows whether the instance still exists.
        guard try await isStanding(piece) else {
            return try discarded(message, "there is no screen instance '\(piece.instance)'; it may have been dismissed")
        }
        let former = try await underWay.end {
            $0.isFor(piece.platform, piece.instance, subject: message.subject) && $0.cause.type == message.type
        }
        let work = Document.ScreenWork(consumer: consumer, attributes: message.attributes, data: data)
        return Handled(former.map(withdrawal) + [try bus.envelope(work, causedBy: message)]) { underWay.start(piece) }
    }

    /// Ends all work of a dismissed instance.
    private func endWork(ofInstance message: Envelope, _ underWay: WorkUnderWay) async throws -> Handled {
        guard let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self) else { return Handled() }
        let ended = try await underWay.end {
            $0.isFor(message.attributes.platform, dismissed.instance, subject: message.subject)
        }
        return Handled(ended.flatMap { withdrawals(of: $0, causedBy: message) })
    }

    /// Ends all work of a session that has ended.
    private func endWork(ofSession message: Envelope, _ underWay: WorkUnderWay) async throws -> Handled {
        let ended = try await underWay.end { $0.cause.subject == message.subject }
        return Handled(ended.flatMap { withdrawals(of: $0, causedBy: message) })
    }

    /// The messages that withdraw the work's own document and the documents that belong to its instance.
    private func withdrawals(of piece: PieceOfWork, causedBy cause: Envelope) -> [Envelope] {
        let types = routes[piece.cause.type]?.withdraws ?? []
        return [withdrawal(of: piece)]
            + types.map { .withdrawal($0, key: piece.instance, source: bus.source, causedBy: cause.attributes) }
    }

    /// Runs a piece of work until it ends by itself or is cancelled.
    private func run(_ piece: PieceOfWork, _ underWay: WorkUnderWay) async throws {
        try await piece.task.run {
            var messages = [withdrawal(of: piece)]
            do {
                try await piece.call()
            } catch  where Task.isCancelled {
                return
            } catch let error as BusError where error.isOfProcess {
                throw error
            } catch {
                let answer = error as? ApplicationError
                // An error that the work has made for the person is no fault of this process.
                logger.log(
                    level: answer == nil ? .error : .info, "the work failed: \(error)",
                    metadata: ["id": "\(piece.cause.id)"])
                let failure =
                    answer
                    ?? ApplicationError(
                        code: "\(consumer).failed", message: "\(consumer) could not finish \(piece.cause.type)",
                        recovery: "see its log for message \(piece.cause.id)")
                messages += (try? [bus.envelope(failure, causedBy: piece.cause)]) ?? []
            }
            underWay.forget(piece)
            do {
                try await bus.publish(Batch(messages))
            } catch let error as BusError where error.code == .refused {
                logger.error(
                    "the end of the work could not be published: \(error)", metadata: ["id": "\(piece.cause.id)"])
                do {
                    try await bus.publish(Batch([withdrawal(of: piece)]))
                } catch let error as BusError where error.code == .refused {
                    logger.error(
                        "the document of the work could not be withdrawn: \(error)",
                        metadata: ["id": "\(piece.cause.id)"])
                }
            }
        }
    }

    private func call(for message: Envelope) throws -> PieceOfWork.Call {
        guard let route = routes[message.type] else {
            throw BusError(.malformed, "\(consumer) has no handler for \(message.type)")
        }
        return try route.begin(MessageContext(cause: message, bus: bus, logger: logger))
    }

    private func isStanding(_ piece: PieceOfWork) async throws -> Bool {
        do {
            let state = try await bus.document(
                Document.NavigationState.self, subject: piece.cause.subject, key: piece.platform)
            return state?.snapshot.state.isStanding(piece.instance) ?? false
        } catch let error as BusError where [.malformed, .refused].contains(error.code) {
            // Another version wrote the state, or the platform's name is invalid.
            return false
        }
    }

    private func withdrawal(of piece: PieceOfWork) -> Envelope {
        let key = Document.ScreenWork(consumer: consumer, attributes: piece.cause.attributes, data: .null).key
        return .withdrawal(Document.ScreenWork.type, key: key, source: bus.source, causedBy: piece.cause.attributes)
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Handled {
        Handled([
            try bus.envelope(DomainEvent.MessageDiscarded(messageID: message.id, reason: reason), causedBy: message)
        ])
    }
}

/// The pieces of work that are running.
private final class WorkUnderWay: Sendable {
    private let pieces = Mutex<[PieceOfWork]>([])
    /// One task for each piece of work.
    let tasks = ConsumerTasks<PieceOfWork>()

    func start(_ piece: PieceOfWork) {
        pieces.withLock { $0.append(piece) }
        tasks.begin(piece)
    }

    /// Removes a piece of work from the list. Does not cancel its task.
    func forget(_ piece: PieceOfWork) {
        pieces.withLock { $0.removeAll { $0.cause.id == piece.cause.id } }
    }

    /// Cancels pieces of work, and returns them after they have ended.
    func end(where isMeant: (PieceOfWork) -> Bool) async throws -> [PieceOfWork] {
        let ended = pieces.withLock { $0.filter(isMeant) }
        for piece in ended {
            try await piece.task.end()
            forget(piece)
        }
        return ended
    }
}

/// A piece of work of an instance.
private struct PieceOfWork: Sendable {
    typealias Call = @Sendable () async throws -> Void

    /// The command that started the work.
    let cause: Envelope
    let platform: String
    let instance: String
    /// The call of the handler. It does nothing if ``isCallable`` is false.
    let call: Call
    /// True if the service has a handler for the command and the command's data can be decoded.
    let isCallable: Bool
    let task = StoppableTask()

    /// Returns nil if the command names no platform or no screen instance.
    /// - Parameter call: nil if the service has no handler for the command, or cannot decode its data.
    init?(_ cause: Envelope, _ call: Call?) {
        guard let platform = cause.attributes.platform, let instance = cause.attributes.instance else { return nil }
        self.cause = cause
        self.call = call ?? {}
        isCallable = call != nil
        self.platform = platform
        self.instance = instance
    }

    /// True if the work belongs to an instance. The identifier of an instance is unique only within one platform and
    /// one session, so all three values are compared.
    func isFor(_ platform: String?, _ instance: String, subject: String) -> Bool {
        self.instance == instance && self.platform == platform && cause.subject == subject
    }
}
