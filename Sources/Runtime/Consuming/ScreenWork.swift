internal import Contracts
public import EventBus
public import Foundation
public import Logging
internal import Navigation
internal import Support
internal import Synchronization

/// Work that belongs to a screen: begun by a command from an instance, and ended when that is dismissed, whoever has
/// dismissed it.
///
///     ScreenWork("timer-service", in: process)
///         .on(Command.TimerRequested.self) { _, context in
///             while true { try await context.publish(tick()); try await clock.sleep(for: .seconds(1)) }
///         }
///
/// Each piece of work is a child task of ``run()``, cancelled when its instance is dismissed; only then is the dismissal
/// handled. What is under way stands in `document.ScreenWork`, written in one batch with the progress, so that a
/// service that was killed takes it up: its handler is called again with the same message. A command whose instance
/// is gone by now begins nothing, and is discarded visibly. One instance has one piece of work of a type: the newest.
///
/// One process does the work of all sessions; a second one fences it.
public struct ScreenWork: ReadyService {
    /// Has the message read, and gives back the call of its handler.
    private typealias Begin = @Sendable (MessageContext) throws -> @Sendable () async throws -> Void

    private struct Route: Sendable {
        let begin: Begin
        let withdraws: [MessageType]
    }

    /// Signalled when its subscription is live.
    public let ready: ReadySignal
    private let consumer: String
    private let bus: any EventBus
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let metrics: ConsumerMetrics
    private let clock: any Clock<Duration>
    private var routes: [MessageType: Route] = [:]

    /// - Parameters:
    ///   - consumer: the durable name.
    ///   - ready: signalled when its subscription is live; of the service that runs it, if it is not one by itself.
    ///   - metrics: of the process; counts what is handled.
    ///   - now: the time by which commands expire.
    ///   - clock: for the pauses between attempts to reach the bus.
    public init(
        _ consumer: String, bus: any EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
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

    /// Adds a route.
    /// - Parameters:
    ///   - withdrawing: documents that go with the instance: those of these types that have it as their key.
    ///   - work: ends by itself, or with its instance. What it throws is logged and told; it is not called again.
    /// - Precondition: there is none for this type yet.
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

    /// The types it listens to, in alphabetical order.
    public var receives: [MessageType] {
        (routes.keys + [DomainEvent.ScreenDismissed.type]).sorted { $0.description < $1.description }
    }

    public func run() async throws {
        try await BusRetry(logger: logger, clock: clock).run { try await work() }
    }

    private func work() async throws {
        let loop = ConsumerLoop(
            consumer, receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
        guard let claim = try await loop.claim() else { return }
        try await loop.tellCutOffs(of: claim)
        let underWay = WorkUnderWay()
        try await takeUp(underWay)
        // What is under way is taken up after the next start.
        try await underWay.tasks.run {
            try await loop.run(under: claim, partitionsAtOnce: Self.partitionsAtOnce) {
                try await results(of: $0, underWay, loop)
            }
        } task: {
            try await run($0, underWay)
        }
    }

    /// Commands that are looked at at the same time, at most.
    private static let partitionsAtOnce = 16

    /// Begins anew what was under way when the process ended, but for what has been dismissed meanwhile.
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
                logger.error("work cannot be taken up: \(error)", metadata: ["id": "\(cause.id)"])
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
            return message.type == DomainEvent.ScreenDismissed.type
                ? try await end(message, underWay) : try await begin(message, underWay, loop)
        } catch let error as BusError where !error.isOfProcess {
            logger.error("given up: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            return loop.givenUp(message, "failed", "could not handle \(message.type)")
        }
    }

    /// Begins what a command asks for, in place of what its instance has had begun by such a command before. The work starts
    /// once its document is recorded: what is not would not be taken up after a crash.
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
            return try discarded(message, "it comes from no screen, with whose end the work could end")
        }
        // Asked of the state and not of what was heard: the dismissal may have come before the command, and before the
        // last restart. It was published with the state; if that still has the instance, the dismissal is yet to come.
        guard try await isStanding(piece) else {
            return try discarded(message, "no screen instance '\(piece.instance)' stands")
        }
        let former = try await underWay.end {
            $0.isFor(piece.platform, piece.instance, subject: message.subject) && $0.cause.type == message.type
        }
        let work = Document.ScreenWork(consumer: consumer, attributes: message.attributes, data: data)
        return Handled(former.map(withdrawal) + [try bus.envelope(work, causedBy: message)]) { underWay.start(piece) }
    }

    /// Ends all that is done for a dismissed instance.
    private func end(_ message: Envelope, _ underWay: WorkUnderWay) async throws -> Handled {
        guard let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self) else { return Handled() }
        let ended = try await underWay.end {
            $0.isFor(message.attributes.platform, dismissed.instance, subject: message.subject)
        }
        return Handled(ended.flatMap { withdrawals(of: $0, causedBy: message) })
    }

    /// What goes with the instance.
    private func withdrawals(of piece: PieceOfWork, causedBy cause: Envelope) -> [Envelope] {
        let types = routes[piece.cause.type]?.withdraws ?? []
        return [withdrawal(of: piece)]
            + types.map { .withdrawal($0, key: piece.instance, source: bus.source, causedBy: cause.attributes) }
    }

    /// Does a piece of work until it ends by itself or is ended.
    private func run(_ piece: PieceOfWork, _ underWay: WorkUnderWay) async throws {
        try await piece.run {
            var messages = [withdrawal(of: piece)]
            do {
                try await piece.call()
            } catch  where Task.isCancelled {
                return
            } catch let error as BusError where error.isOfProcess {
                throw error
            } catch {
                logger.error("failed: \(error)", metadata: ["id": "\(piece.cause.id)"])
                let failure =
                    error as? ApplicationError
                    ?? ApplicationError(
                        code: "\(consumer).failed", message: "\(consumer) could not go on with \(piece.cause.type)",
                        recovery: "see its log for message \(piece.cause.id)")
                messages += (try? [bus.envelope(failure, causedBy: piece.cause)]) ?? []
            }
            underWay.forget(piece)
            do {
                try await bus.publish(Batch(messages))
            } catch let error as BusError where error.code == .refused {
                logger.error("its end could not be told: \(error)", metadata: ["id": "\(piece.cause.id)"])
                do {
                    try await bus.publish(Batch([withdrawal(of: piece)]))
                } catch let error as BusError where error.code == .refused {
                    logger.error("its document could not be withdrawn: \(error)", metadata: ["id": "\(piece.cause.id)"])
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
            // The state of another version, or a platform that cannot have one.
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

/// The pieces of work that are under way.
private final class WorkUnderWay: Sendable {
    private let pieces = Mutex<[PieceOfWork]>([])
    /// One for each piece, begun when it is started.
    let tasks = Companions<PieceOfWork>()

    func start(_ piece: PieceOfWork) {
        pieces.withLock { $0.append(piece) }
        tasks.begin(piece)
    }

    /// Forgets a piece that has ended.
    func forget(_ piece: PieceOfWork) {
        pieces.withLock { $0.removeAll { $0.cause.id == piece.cause.id } }
    }

    /// Ends pieces, and returns when they have ended.
    func end(where isMeant: (PieceOfWork) -> Bool) async throws -> [PieceOfWork] {
        let ended = pieces.withLock { $0.filter(isMeant) }
        for piece in ended {
            try await piece.end()
            forget(piece)
        }
        return ended
    }
}

/// Work that is under way for an instance.
private struct PieceOfWork: Sendable {
    typealias Call = @Sendable () async throws -> Void

    /// The message that began it.
    let cause: Envelope
    let platform: String
    let instance: String
    /// The call of its handler; one that does nothing if there is no handler for it any more.
    let call: Call
    let isCallable: Bool
    private let stop = ReadySignal()
    private let hasEnded = ReadySignal()

    /// - Returns: nil for a message that comes from no instance.
    /// - Parameter call: nil if there is no handler for the message any more.
    init?(_ cause: Envelope, _ call: Call?) {
        guard let platform = cause.attributes.platform, let instance = cause.attributes.instance else { return nil }
        self.cause = cause
        self.call = call ?? {}
        isCallable = call != nil
        self.platform = platform
        self.instance = instance
    }

    /// Whether both are for the same instance: identifiers are unique only within a platform's session.
    func isFor(_ platform: String?, _ instance: String, subject: String) -> Bool {
        self.instance == instance && self.platform == platform && cause.subject == subject
    }

    /// Does it until it ends by itself, or is ended.
    func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
        defer { hasEnded.signal() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await work() }
            tasks.addTask { _ = try? await stop.wait() }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    /// Cancels it, and returns when it has ended: from then on it does nothing more.
    func end() async throws {
        stop.signal()
        try await hasEnded.wait()
    }
}
