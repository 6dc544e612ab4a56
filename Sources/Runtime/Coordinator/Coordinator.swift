package import Consuming
internal import Contracts
package import EventBus
package import Foundation
package import Logging
package import Navigation

/// Runs the navigation of one platform: one state machine for each session. Each machine receives the messages of its
/// session in order.
///
/// The results of a message, the changed snapshot and the consumer's position are published in one batch.
package struct Coordinator: ReadyService {
    /// The maximum time that a view has to animate a screen out. After this time the coordinator reports that the
    /// screen is gone.
    static let animationTime: Duration = .seconds(2)

    /// The maximum number of messages in a batch while sessions are restored.
    private static let restoredCount = 256

    package let ready = ReadySignal()
    private let flow: Flow
    private let source: String?
    private let bus: any EventBus
    private let logger: Logger
    private let metrics: ConsumerMetrics
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - source: the flow as YAML, for `document.Flow`. Nil if the document is not to be published.
    ///   - metrics: the counts of the process; the coordinator updates them.
    ///   - clock: measures the time until a leaving screen counts as gone, the deadlines of guards, and the pauses
    ///     between attempts to reach the bus.
    ///   - now: returns the current time. The coordinator compares it with the expiry times of commands.
    package init(
        flow: Flow, source: String? = nil, bus: any EventBus, logger: Logger,
        metrics: ConsumerMetrics = ConsumerMetrics(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.flow = flow
        self.source = source
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        self.now = now
    }

    package func run() async throws {
        try await BusRetry(logger: logger, clock: clock).run { try await coordinate() }
    }

    /// Publishes the flow. If the bus refuses the document, for example because it is too large, the coordinator runs
    /// without it.
    private func publishFlow(under claim: ConsumerClaim) async throws {
        guard let source else { return }
        let document = Document.Flow(
            platform: flow.platform, name: flow.name, version: flow.version, hash: flow.hash, source: source)
        let checkpoint = Checkpoint(claim: claim, position: claim.position)
        do {
            let message = try Envelope(document, source: bus.source)
            try await bus.publish(Batch([message], checkpoint: checkpoint, isLeased: true))
        } catch let error as BusError where error.code == .refused {
            logger.error("the flow is not published: \(error)")
        }
    }

    /// Publishes the results of restoring. A message that the bus refuses is left out.
    private func publish(_ messages: [Envelope], under claim: ConsumerClaim) async throws {
        do {
            try await bus.publish(Batch(messages, checkpoint: Checkpoint(claim: claim, position: claim.position)))
        } catch let error as BusError where error.code == .refused && !messages.isEmpty {
            guard messages.count == 1 else {
                for message in messages { try await publish([message], under: claim) }
                return
            }
            logger.error("the bus refused restored data: \(error)", metadata: ["session": "\(messages[0].subject)"])
        }
    }

    private func coordinate() async throws {
        let loop = ConsumerLoop(
            flow.consumer, flow.receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
        guard let claim = try await loop.claim() else { return }
        try await loop.tellCutOffs(of: claim)
        try await publishFlow(under: claim)
        let open = OpenDeadlines()
        // The documents are read after the claim, because after the claim no other coordinator can change them.
        var sessions = Sessions(flow: flow, source: bus.source, open: open, logger: logger, now: now)
        let restored = try sessions.restore(
            from: try await bus.documents(matching: [.type(Document.NavigationState.self)]),
            deadlines: try await bus.documents(matching: [.type(Document.Deadline.self)]))
        // At least one batch is published, because it confirms the claim.
        for start in stride(from: 0, to: max(1, restored.messages.count), by: Self.restoredCount) {
            try await publish(Array(restored.messages.dropFirst(start).prefix(Self.restoredCount)), under: claim)
        }
        restored.whenRecorded?()
        let running = sessions
        try await open.timers.run {
            try await loop.run(under: claim, running)
        } task: {
            try await wait(for: $0, open)
        }
    }

    /// Waits for the delay of a deadline. If the deadline is still open after the delay, reports that the screen is
    /// gone or that the guard's deadline has passed.
    func wait(for deadline: Deadline, _ open: OpenDeadlines) async throws {
        do {
            try await clock.sleep(for: deadline.delay)
            guard open.isOpen(deadline) else { return }
            try await BusRetry(logger: logger, clock: clock, after: [.unavailable, .journal])
                .run { _ = try await bus.publish(Batch([report(of: deadline)])) }
        } catch let error as BusError where error.code == .refused {
            logger.error("a deadline could not be reported: \(error)", metadata: ["id": "\(deadline.object.id)"])
        } catch is CancellationError {
            // The service stops. The next coordinator starts the wait again.
        }
    }

    private func report(of deadline: Deadline) throws -> Envelope {
        let object = deadline.object
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
                DomainEvent.GuardDeadlinePassed(attempt: object.id), source: bus.source, causedBy: deadline.cause,
                origin: origin, id: id)
            report.attributes.causationID = object.id
            return report
        }
    }
}

extension Flow {
    /// The message types that a coordinator of this flow receives, in alphabetical order. They include
    /// `event.LaunchFinished` even if no rule uses it.
    package var receives: [MessageType] {
        // The flow's checker has refused invalid types, so `compactMap` removes nothing.
        messageTypes.union([DomainEvent.LaunchFinished.type.description]).sorted().compactMap(MessageType.init)
    }

    /// The message types that a coordinator of this flow publishes.
    package var sends: [MessageType] {
        [
            Document.NavigationState.type, Document.Deadline.type, Document.Flow.type,
            DomainEvent.URLOpenRequested.type,
            DomainEvent.ScreenDismissed.type,
            DomainEvent.MessageDiscarded.type, Command.ScreenGone.type, ApplicationError.type,
        ] + (guardedRules.isEmpty ? [] : [DomainEvent.GuardDeadlinePassed.type]) + commands
    }

    /// The types of the commands that rules, links and buttons send, in alphabetical order.
    private var commands: [MessageType] {
        let types = allTransitions.flatMap(\.possibleActions).flatMap { action -> [String] in
            switch action {
            case .send(let type, _): [type]
            case .present(_, _, let options): options.buttons?.compactMap(\.sends) ?? []
            default: []
            }
        }
        let linked = links.flatMap { link in
            link.sends.map(\.type) + (link.to.present?.options.buttons?.compactMap(\.sends) ?? [])
        }
        return Set(types + linked).sorted().compactMap(MessageType.init)
    }
}
