public import Consuming
internal import Contracts
public import EventBus
internal import Foundation
public import Logging
public import Navigation
public import Support

/// Runs the navigation of one platform: one state machine for each session. Each machine receives the messages of its
/// session in order.
///
/// The coordinators of a platform share its sessions. Each keeps the machines of the sessions that were used last, and
/// restores others from their documents. The results of a message, the changed snapshot and the consumer's progress are
/// published in one batch.
public struct Coordinator: ReadyService {
    /// The usual maximum number of machines in memory.
    public static let usualLiveSessions = 20_000

    public let ready = Latch()
    private let flow: Flow
    private let source: String?
    private let liveSessions: Int
    private let idle: IdleSessions?
    private let bus: EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: ServiceClock

    /// - Parameters:
    ///   - source: the flow as YAML, for `document.Flow`. Nil if the document is not to be published.
    ///   - liveSessions: the maximum number of machines in memory.
    ///   - sessionIdle: the time without a message after which a session ends. Nil if sessions end only with
    ///     `event.SessionEnded`.
    ///   - metrics: the counts of the process; the coordinator updates them.
    ///   - clock: measures the time until a leaving screen counts as gone, the deadlines of guards, and the pauses
    ///     between attempts to reach the bus. Its date is compared with the expiry times of commands.
    public init(
        flow: Flow, source: String? = nil, liveSessions: Int = usualLiveSessions,
        sessionIdle: Duration? = nil, bus: EventBus, logger: Logger, metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: ServiceClock = .system
    ) {
        self.flow = flow
        self.source = source
        self.liveSessions = liveSessions
        idle = sessionIdle.map { IdleSessions(limit: $0) }
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
    }

    public func run() async throws {
        try await BusRetry(holding: .nothing, logger: logger, clock: clock.pauses).run { try await coordinate() }
    }

    private func coordinate() async throws {
        let timers = OpenTimers(clock: clock) { [try report(of: $0)].compactMap(\.self) }
        let loop = ConsumerLoop(
            flow.consumer, flow.receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics,
            clock: clock.pauses, timers: timers, whenLive: ready.open)
        let sessions = Sessions(
            flow: flow, source: bus.source, timers: timers, limit: liveSessions, idle: idle, logger: logger,
            now: clock.now)
        try await withThrowingTaskGroup { group in
            group.addTask { try await endIdleSessions(timers) }
            defer { group.cancelAll() }
            try await loop.runShared(sessions) { try await resume($0, new: $1, sessions: sessions, timers: timers) }
        }
    }

    private func endIdleSessions(_ timers: OpenTimers) async throws {
        guard var idle else { return }
        while true {
            try await clock.pauses.sleep(for: idle.pause)
            do {
                try await idle.end(of: flow, on: bus, at: clock.now()) { timers.isOwn($0) }
            } catch let error as BusError {
                logger.info("idle sessions are looked for later: \(error)")
            }
        }
    }

    // MARK: Resuming partitions

    /// Continues with the partitions of a claim: their deadlines, and the default session, which begins without a
    /// message. The owner of its partition also publishes the flow.
    private func resume(
        _ claim: ConsumerClaim, new: Set<Partition>, sessions: Sessions, timers: OpenTimers
    ) async throws {
        // The documents are read after the claim, because after the claim no other coordinator can change them.
        try await timers.adopt(Set(claim.offsets.keys), new: new) {
            guard !claim.offsets.isEmpty else { return [] }
            return try await bus.documents(matching: [.type(Document.Deadline.self)])
                .filter { claim.offsets[$0.partition] != nil }
                .compactMap { PendingDeadline($0, platform: flow.platform)?.timer(of: timers, platform: flow.platform) }
        }
        let partition = Partition(subject: Session.default)
        guard let checkpoint = Checkpoint(guarding: partition, of: claim) else { return }
        // The flow is leased under a claim. A later claim of the same partition may have another owner generation,
        // under which the former lease has ended.
        try await publishFlow(checkpoint)
        guard new.contains(partition) else { return }
        let state = try await bus.document(
            Document.NavigationState.type, subject: Session.default, key: flow.platform)
        guard let results = try sessions.adaptation(of: state, session: Session.default) else { return }
        do {
            try await bus.publish(Batch(results.messages, checkpoint: checkpoint))
            results.whenRecorded?()
        } catch let error as BusError where error.code == .refused {
            logger.error("the bus refused restored data: \(error)", metadata: ["session": "\(Session.default)"])
        }
    }

    /// Publishes the flow. If the bus refuses the document, for example because it is too large, the coordinator runs
    /// without it.
    private func publishFlow(_ checkpoint: Checkpoint) async throws {
        guard let source else { return }
        let document = Document.Flow(
            platform: flow.platform, name: flow.name, version: flow.version, hash: flow.hash, source: source,
            rules: flow.ruleLocations.mapValues(\.description))
        do {
            let message = try Envelope(document, source: bus.source)
            try await bus.publish(Batch([message], checkpoint: checkpoint, isLeased: true))
        } catch let error as BusError where error.code == .refused {
            logger.error("the flow is not published: \(error)")
        }
    }

    // MARK: Deadlines

    /// The report that a deadline has passed: that a screen is gone, that a guard has not answered, or that a rule has
    /// waited. It is published
    /// unless the deadline's document has been withdrawn. Only the name of the document counts, see
    /// ``Deadline/init(_:platform:)``.
    private func report(of document: Envelope) throws -> Envelope? {
        guard let object = PendingDeadline.Object(DocumentName(document), platform: flow.platform) else { return nil }
        let origin = Origin(platform: flow.platform)
        switch object.kind {
        case .screen:
            return try Envelope(
                Command.ScreenGone(instance: object.id), source: bus.source, subject: object.session, origin: origin)
        case .attempt:
            // The id is derived from the id of the attempt. A coordinator that was killed after it published the report
            // may publish the report again, with the same id.
            let id = DerivedID.make(from: object.id, platform: flow.platform, name: "deadline")
            var report = try Envelope(
                DomainEvent.GuardDeadlinePassed(attempt: object.id), source: bus.source, causedBy: document.attributes,
                origin: origin, id: id)
            report.attributes.causationID = object.id
            return report
        }
    }
}

extension Flow {
    /// The message types that a coordinator of this flow receives, in alphabetical order. They include the events that
    /// begin and end sessions even if no rule uses them.
    package var receives: [MessageType] {
        let session = [
            DomainEvent.LaunchFinished.type, DomainEvent.DeepLinkReceived.type, DomainEvent.SessionEnded.type,
        ]
        // The flow's checker has refused invalid types, so `compactMap` removes nothing.
        return messageTypes.union(session.map(\.description)).sorted().compactMap(MessageType.init)
    }

    /// The message types that a coordinator of this flow publishes.
    package var sends: [MessageType] {
        [
            Document.NavigationState.type, Document.Deadline.type, Document.Flow.type,
            DomainEvent.URLOpenRequested.type,
            DomainEvent.ScreenDismissed.type,
            DomainEvent.MessageDiscarded.type, Command.ScreenGone.type, ApplicationError.type,
        ]
            + (messageTypes.contains(Machine.deadlinePassed) ? [DomainEvent.GuardDeadlinePassed.type] : [])
            + commands
    }

    /// The types of the commands that rules, links and buttons send, in alphabetical order.
    private var commands: [MessageType] {
        let types = allTransitions.flatMap(\.possibleActions).flatMap(\.sentTypes)
        let linked = links.flatMap { link in
            link.sends.map(\.type)
                + [link.to, link.otherwise].compactMap { $0?.present }.flatMap {
                    Flow.Action.present($0.destination, as: $0.style, options: $0.options).sentTypes
                }
        }
        return Set(types + linked).sorted().compactMap(MessageType.init)
    }
}
