package import Consuming
internal import Contracts
package import EventBus
package import Foundation
package import Logging
package import Navigation

/// Hosts the navigation of one platform: a machine per session, fed with the messages of the bus in their order.
///
/// What a message leads to, the changed snapshot and the progress made are one batch. So the retained snapshot and the
/// position always fit together, and a coordinator that was killed goes on exactly where it was.
package struct Coordinator: ReadyService {
    /// How long a view may take to animate a screen out before it counts as gone all the same.
    static let animationTime: Duration = .seconds(2)

    /// Messages of one batch while sessions are restored.
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
    ///   - source: the flow as YAML, for `document.Flow`; that document is not published if it is nil.
    ///   - metrics: of the process; counts what is handled.
    ///   - clock: measures how long a screen may take to leave, and a guard to be answered.
    ///   - now: the time by which commands expire.
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

    /// Publishes the flow, for views that know only the platform. A flow that the bus refuses, because it is too large, leads
    /// the platform all the same.
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

    /// Publishes what restoring led to. What the bus refuses of it is left out: it would be refused at every start.
    private func publish(_ messages: [Envelope], under claim: ConsumerClaim) async throws {
        do {
            try await bus.publish(Batch(messages, checkpoint: Checkpoint(claim: claim, position: claim.position)))
        } catch let error as BusError where error.code == .refused && !messages.isEmpty {
            guard messages.count == 1 else {
                for message in messages { try await publish([message], under: claim) }
                return
            }
            logger.error("a restored state is refused: \(error)", metadata: ["session": "\(messages[0].subject)"])
        }
    }

    private func coordinate() async throws {
        let loop = ConsumerLoop(
            flow.consumer, flow.receives.map { .type($0) }, bus: bus, logger: logger, metrics: metrics, clock: clock,
            whenLive: ready.signal)
        guard let claim = try await loop.claim() else { return }
        try await loop.tellCutOffs(of: claim)
        try await publishFlow(under: claim)
        let open = OpenExpectations()
        // Reading comes after the claim: from then on no other process can change these documents.
        var sessions = Sessions(flow: flow, source: bus.source, open: open, logger: logger, now: now)
        let restored = try sessions.restore(
            from: try await bus.documents(matching: [.type(Document.NavigationState.self)]),
            deadlines: try await bus.documents(matching: [.type(Document.Deadline.self)]))
        // At least one batch: it confirms the claim.
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

    /// Reports that a screen is gone, for there may be no view any more that does, or that an attempt has waited long enough.
    ///
    /// Either is a message like any other, so that a recording replays without a clock.
    func wait(for expectation: Expectation, _ open: OpenExpectations) async throws {
        do {
            try await clock.sleep(for: expectation.delay)
            guard open.isOpen(expectation) else { return }
            try await BusRetry(logger: logger, clock: clock, after: [.unavailable, .journal])
                .run { _ = try await bus.publish(Batch([report(of: expectation)])) }
        } catch let error as BusError where error.code == .refused {
            logger.error("a deadline could not be reported: \(error)", metadata: ["id": "\(expectation.object.id)"])
        } catch is CancellationError {
            // The service stops. The coordinator that takes over waits anew.
        }
    }

    private func report(of expectation: Expectation) throws -> Envelope {
        let object = expectation.object
        let origin = Origin(platform: flow.platform)
        switch object.kind {
        case .screen:
            return try Envelope(
                Command.ScreenGone(instance: object.id), source: bus.source, subject: object.session, origin: origin)
        case .attempt:
            // One deadline, one id: a coordinator that was killed after publishing it publishes it again.
            let id = DerivedID.make(from: object.id, platform: flow.platform, name: "deadline")
            var report = try Envelope(
                DomainEvent.GuardDeadlinePassed(attempt: object.id), source: bus.source, causedBy: expectation.cause,
                origin: origin, id: id)
            report.attributes.causationID = object.id
            return report
        }
    }
}

extension Flow {
    /// The message types that a coordinator of this flow listens to, in alphabetical order: also the one that begins a
    /// session, whether a rule answers that or not.
    package var receives: [MessageType] {
        // The flow's checker lets no type through that is none.
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

    /// The app's own commands that the rules and links send, in alphabetical order.
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
