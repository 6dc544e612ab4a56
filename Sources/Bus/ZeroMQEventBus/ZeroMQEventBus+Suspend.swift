internal import ZeroMQ

extension ZeroMQEventBus {
    /// Suspends until what `body` does with the continuation resumes it.
    /// - Parameter onCancel: resumes it when the task is cancelled; called on the actor, always after `body`.
    func suspend<Result: Sendable>(
        _ body: (CheckedContinuation<Result, any Error>) -> Void,
        onCancel: @escaping @Sendable (isolated ZeroMQEventBus) -> Void
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The closure has to capture the actor to run on it; otherwise it would run on the global executor, and
                // the compiler would not mind.
                self.preconditionIsolated()
                // A handler that ran before this found nothing to resume.
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    body(continuation)
                }
            }
        } onCancel: {
            thread.perform { [weak self] in self?.assumeIsolated { onCancel($0) } }
        }
    }
}
