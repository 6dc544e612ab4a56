internal import Contracts
internal import EventBus
internal import Navigation

extension Coordinator {
    /// Reports a screen as gone if no view has done so in time: there may be none any more.
    ///
    /// It is the same message as a view's, so that a recording replays without a clock.
    func expectGone(_ screen: LeavingScreen, _ timers: inout ThrowingDiscardingTaskGroup<any Error>) {
        timers.addTask {
            do {
                try await clock.sleep(for: Self.animationTime)
                let state = try await bus.document(
                    Document.NavigationState.self, subject: screen.session, key: flow.platform)
                guard let leaving = state?.snapshot.state.leaving, leaving.contains(where: { $0.id == screen.instance })
                else { return }
                try await bus.send(
                    Command.ScreenGone(instance: screen.instance), subject: screen.session,
                    origin: Origin(platform: flow.platform))
            } catch is CancellationError {
                // The service stops. Whoever takes over expects it anew.
            }
        }
    }
}
