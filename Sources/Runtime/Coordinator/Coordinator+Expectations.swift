internal import Contracts
internal import EventBus
internal import Navigation

extension Coordinator {
    /// Reports that a screen is gone, for there may be no view any more that does, or that an attempt has waited long enough.
    ///
    /// Either is a message like any other, so that a recording replays without a clock.
    func wait(for expectation: Expectation, _ timers: inout ThrowingDiscardingTaskGroup<any Error>) {
        timers.addTask {
            do {
                try await clock.sleep(for: expectation.delay)
                let document = try await bus.document(
                    Document.NavigationState.self, subject: expectation.session, key: flow.platform)
                guard let state = document?.snapshot.state, expectation.isOpen(in: state) else { return }
                try await bus.publish(Batch([report(of: expectation)]))
            } catch is CancellationError {
                // The service stops. Whoever takes over waits anew.
            }
        }
    }

    private func report(of expectation: Expectation) throws -> Envelope {
        switch expectation.object {
        case .screen(let instance):
            return try envelope(Command.ScreenGone(instance: instance), expectation)
        case .attempt(let id, let correlationID):
            var report = try envelope(DomainEvent.GuardDeadlinePassed(attempt: id), expectation)
            // One deadline, one id: a coordinator that was killed after publishing it publishes it again.
            report.attributes.id = DerivedID.make(from: id, platform: flow.platform, name: "deadline")
            report.attributes.causationID = id
            report.attributes.correlationID = correlationID
            return report
        }
    }

    private func envelope(_ message: some Message, _ expectation: Expectation) throws -> Envelope {
        try Envelope(
            message, source: bus.source, subject: expectation.session, origin: Origin(platform: flow.platform))
    }
}
