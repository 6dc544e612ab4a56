extension EventBus {
    /// Consumes durably: each matching message is handed to `handler`, and what it gives back is journalled in one batch
    /// with the progress made. A crash may repeat a call of the handler, never half of its result.
    ///
    /// Returns only by throwing: `CancellationError`, ``BusError`` (`fenced`: somebody else took over), or what `handler` throws.
    public func consume(
        as consumer: String, _ filters: [MessageFilter],
        handler: (Envelope) async throws -> [Envelope]
    ) async throws {
        let claim = try await claim(consumer: consumer)
        try await consume(under: claim, filters, handler: handler)
    }

    /// As ``consume(as:_:handler:)``, for a consumer that read its own state between claiming and consuming.
    public func consume(
        under claim: ConsumerClaim, _ filters: [MessageFilter],
        handler: (Envelope) async throws -> [Envelope]
    ) async throws {
        try await withSubscription(to: filters, from: .after(claim.position)) { messages in
            for try await message in messages {
                guard let position = message.position else { continue }
                let results = try await handler(message)
                try await publish(Batch(results, checkpoint: Checkpoint(claim: claim, position: position)))
            }
        }
    }
}
