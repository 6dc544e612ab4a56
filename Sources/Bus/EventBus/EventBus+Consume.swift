extension EventBus {
    /// Takes a durable consumer over from whoever had it.
    public func claim(consumer: String) async throws -> ConsumerClaim {
        try await claim(consumer: consumer, as: .exclusive)
    }

    /// Runs `body` with a new member of a durable consumer, which leaves when `body` ends: its process may live on, and others
    /// would wait for a share that nobody handles.
    public func withMember<Result>(
        of consumer: String, _ mode: ConsumerMember.Mode, _ body: (ConsumerMember) async throws -> Result
    ) async throws -> Result {
        let member = ConsumerMember(mode)
        do {
            let result = try await body(member)
            await leave(consumer: consumer, as: member)
            return result
        } catch {
            await leave(consumer: consumer, as: member)
            throw error
        }
    }

    /// Asks whether a claim still holds whose messages have ended: whether that was another process's doing or a new
    /// journal's, only the broker knows.
    /// - Throws: ``BusError``: `fenced` or `epoch`.
    package func confirm(_ claim: ConsumerClaim) async throws {
        try await publish(Batch([], checkpoint: Checkpoint(claim: claim, position: claim.position)))
    }
}
