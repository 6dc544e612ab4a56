internal import Contracts
public import EventBus
public import Foundation
public import Logging
internal import Navigation

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
    typealias Begin = @Sendable (MessageContext) throws -> @Sendable () async throws -> Void

    struct Route: Sendable {
        let begin: Begin
        let withdraws: [MessageType]
    }

    /// Signalled when its subscription is live.
    public let ready: ReadySignal
    let consumer: String
    let bus: any EventBus
    let logger: Logger
    let now: @Sendable () -> Date
    private let metrics: ConsumerMetrics
    private let clock: any Clock<Duration>
    private(set) var routes: [MessageType: Route] = [:]

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
                        .withdrawal(document.type, key: document.attributes.key, source: bus.source, causedBy: document)
                    ]))
            }
        }
    }
}
