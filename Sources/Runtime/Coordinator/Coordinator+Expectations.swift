internal import Consuming
internal import Contracts
internal import EventBus
internal import Logging
internal import Navigation
internal import Synchronization

/// What the states of all sessions wait for, as far as it is recorded.
final class OpenExpectations: Sendable {
    private let objects = Mutex<Set<Expectation.Object>>([])
    /// One for each expectation, begun when it is recorded.
    let timers = Companions<Expectation>()

    func open(_ expectations: [Expectation]) {
        for expectation in expectations where objects.withLock({ $0.insert(expectation.object).inserted }) {
            timers.begin(expectation)
        }
    }

    func close(_ closed: Set<Expectation.Object>) {
        objects.withLock { $0.subtract(closed) }
    }

    func isOpen(_ expectation: Expectation) -> Bool { objects.withLock { $0.contains(expectation.object) } }
}

extension Coordinator {
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
        let id = expectation.object.id
        switch expectation.object.kind {
        case .screen:
            return try envelope(Command.ScreenGone(instance: id), expectation)
        case .attempt:
            var report = try envelope(DomainEvent.GuardDeadlinePassed(attempt: id), expectation)
            let story = Attributes(type: report.type, source: bus.source, causedBy: expectation.cause)
            report.attributes.correlationID = story.correlationID
            report.attributes.traceparent = story.traceparent
            // One deadline, one id: a coordinator that was killed after publishing it publishes it again.
            report.attributes.id = DerivedID.make(from: id, platform: flow.platform, name: "deadline")
            report.attributes.causationID = id
            return report
        }
    }

    private func envelope(_ message: some Message, _ expectation: Expectation) throws -> Envelope {
        try Envelope(
            message, source: bus.source, subject: expectation.object.session, origin: Origin(platform: flow.platform))
    }
}
