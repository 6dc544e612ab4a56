package import EventBus
internal import ServiceLifecycle

extension EventBus {
    /// Takes a durable consumer over as ``claim(consumer:)`` does, however long the bus takes to answer.
    /// - Returns: nil if the service was asked to stop before.
    package func claimUntilShutdown(consumer: String) async throws -> ConsumerClaim? {
        do {
            return try await cancelWhenGracefulShutdown { try await claim(consumer: consumer) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            return nil
        }
    }

    /// Consumes durably as ``consume(under:_:handler:)`` does, until the service is asked to stop.
    ///
    /// The message at hand is then handled to its end: what was done to the outside is also committed.
    /// - Parameters:
    ///   - whenLive: called once the subscription is live.
    ///   - handler: gives back what is to be published in one batch with the progress made.
    ///   - instead: gives back what is to be published when the broker refuses that, such as a message that is too large;
    ///     throws the error unless said.
    package func consumeUntilShutdown(
        under claim: ConsumerClaim, _ filters: [MessageFilter], whenLive: () -> Void,
        handler: (Envelope) async throws -> [Envelope],
        instead: (Envelope, BusError) throws -> [Envelope] = { _, error in throw error }
    ) async throws {
        try await withSubscription(to: filters, from: .after(claim.position)) { messages in
            whenLive()
            for try await message in messages.endingOnGracefulShutdown() {
                guard let position = message.position else { continue }
                let checkpoint = Checkpoint(claim: claim, position: position)
                let results = try await handler(message)
                do {
                    try await publish(Batch(results, checkpoint: checkpoint))
                } catch let error as BusError where error.code == .refused {
                    // To die of it would be to die of it again after every restart.
                    try await publish(Batch(instead(message, error), checkpoint: checkpoint))
                }
            }
        }
    }
}

extension MessageSequence {
    fileprivate func endingOnGracefulShutdown() -> MessageSequence {
        MessageSequence {
            // A backlog must not hold the stop up: what is there already would win against the shutdown below.
            if Task.isShuttingDownGracefully { return nil }
            do {
                return try await cancelWhenGracefulShutdown {
                    var iterator = makeAsyncIterator()
                    return try await iterator.next()
                }
            } catch is CancellationError where Task.isShuttingDownGracefully {
                return nil
            }
        }
    }
}
