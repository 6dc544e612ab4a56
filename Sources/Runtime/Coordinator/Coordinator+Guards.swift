internal import Contracts
internal import EventBus
internal import Navigation

extension Coordinator {
    /// Reports that an attempt has waited long enough, if it waits still.
    ///
    /// The deadline is a message like any other, so that a recording replays without a clock.
    func expectAnswer(_ attempt: WaitingAttempt, _ timers: inout ThrowingDiscardingTaskGroup<any Error>) {
        timers.addTask {
            do {
                try await clock.sleep(for: attempt.deadline)
                let state = try await bus.document(
                    Document.NavigationState.self, subject: attempt.session, key: flow.platform)
                guard state?.snapshot.state.attempt?.id == attempt.id else { return }
                try await bus.publish(Batch([deadlinePassed(attempt)]))
            } catch is CancellationError {
                // The service stops. Whoever takes over waits anew.
            }
        }
    }

    private func deadlinePassed(_ attempt: WaitingAttempt) throws -> Envelope {
        var envelope = try Envelope(
            DomainEvent.GuardDeadlinePassed(attempt: attempt.id), source: bus.source, subject: attempt.session,
            origin: Origin(platform: flow.platform))
        // One deadline, one id: a coordinator that was killed after publishing it publishes it again.
        envelope.attributes.id = DerivedID.make(from: attempt.id, platform: flow.platform, name: "deadline")
        envelope.attributes.causationID = attempt.id
        envelope.attributes.correlationID = attempt.correlationID
        return envelope
    }
}
