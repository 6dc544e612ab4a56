extension EventBus {
    /// Takes a durable consumer over from whoever had it.
    public func claim(consumer: String) async throws -> ConsumerClaim {
        try await claim(consumer: consumer, as: .exclusive)
    }

    /// Consumes durably: each matching message is handed to `handler`, and what it gives back is journalled in one batch
    /// with the progress made. A crash may repeat a call of the handler, never half of its result.
    ///
    /// Members that share a consumer divide its partitions among them: messages of one subject stay in order. What a member
    /// was handling while its partition went to another is dropped here and repeated there. Each call is a member, also of
    /// several in one process, and leaves when it ends. A message whose header cannot be read becomes a dead letter,
    /// `message.malformed`.
    ///
    /// Returns only by throwing: `CancellationError`, ``BusError`` (`fenced`: somebody else took an exclusive consumer over),
    /// or what `handler` throws.
    public func consume(
        as consumer: String, _ filters: [MessageFilter], mode: ConsumerMember.Mode = .exclusive,
        handler: (Envelope) async throws -> [Envelope]
    ) async throws {
        try await withMember(of: consumer, mode) { member in
            while true {
                let claim = try await claim(consumer: consumer, as: member)
                do {
                    try await consume(under: claim, filters, handler: handler)
                } catch let error as BusError where error.code == .epoch || mode == .shared && error.code == .fenced {
                    // The partition is another's now, or the journal is another: what holds is what the next claim says.
                }
            }
        }
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

    /// As ``consume(as:_:mode:handler:)``, for a consumer that read its own state between claiming and consuming.
    ///
    /// Returns when the claim no longer says what its member owns.
    public func consume(
        under claim: ConsumerClaim, _ filters: [MessageFilter],
        handler: (Envelope) async throws -> [Envelope]
    ) async throws {
        try await withSubscription(to: filters, under: claim) { messages in
            for try await message in messages {
                guard let checkpoint = Checkpoint(claim: claim, handled: message) else { continue }
                // What is for another consumer alone is handled by passing it: the position tells how far this one has come.
                let isHandled = message.concerns(claim.consumer) && message.rejection == nil
                let results = isHandled ? try await handler(message) : []
                try await publish(Batch(results, checkpoint: checkpoint, rejection: message.rejection))
            }
        }
        if claim.member.mode == .exclusive {
            try await confirm(claim)
        }
    }

    /// Asks whether a claim still holds whose messages have ended: whether that was another process's doing or a new
    /// journal's, only the broker knows.
    /// - Throws: ``BusError``: `fenced` or `epoch`.
    package func confirm(_ claim: ConsumerClaim) async throws {
        try await publish(Batch([], checkpoint: Checkpoint(claim: claim, position: claim.position)))
    }
}
