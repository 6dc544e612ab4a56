internal import Contracts
internal import EventBus
internal import Logging

extension ErrorNotifier {
    /// Dismisses an error when its time is up.
    func hideInDueTime(
        _ entry: ErrorQueue.Entry?, of session: String, _ timers: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        guard let entry else { return }
        timers.addTask {
            do {
                try await clock.sleep(for: entry.error.severity.displayTime)
                try await hide(entry.id, of: session)
            } catch is CancellationError {
                // The service stops. Whoever takes over times the banner anew.
            }
        }
    }

    /// The banner says whether somebody was faster: then there is nothing left to dismiss.
    private func hide(_ errorID: String, of session: String) async throws {
        let banner = try await bus.document(Document.ErrorBanner.self, subject: session)
        guard banner?.errorID == errorID else { return }
        try await bus.send(Command.ErrorDismissed(errorID: errorID), subject: session)
    }
}
