internal import Contracts
package import EventBus
internal import ServiceLifecycle

extension EventBus {
    /// Takes part in a durable consumer as ``claim(consumer:as:)`` does, however long the bus takes to answer.
    /// - Returns: nil if the service was asked to stop before.
    package func claimUntilShutdown(
        consumer: String, as member: ConsumerMember = .exclusive
    ) async throws -> ConsumerClaim? {
        if Task.isShuttingDownGracefully { return nil }
        do {
            return try await cancelWhenGracefulShutdown { try await claim(consumer: consumer, as: member) }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            return nil
        }
    }

    /// Consumes durably under an exclusive claim, as ``consume(under:_:handler:)`` does, until the service is asked to stop. With
    /// the dead letter of a message whose header cannot be read goes an error.
    ///
    /// The message at hand is then handled to its end: what was done to the outside is also committed.
    /// - Parameters:
    ///   - whenLive: called once the subscription is live.
    ///   - handler: gives back what is to be published in one batch with the progress made.
    /// - Throws: ``BusError``: `fenced` when somebody else has taken the consumer over, `epoch` when the journal is another.
    package func consumeUntilShutdown(
        under claim: ConsumerClaim, _ filters: [MessageFilter], metrics: ConsumerMetrics, whenLive: () -> Void,
        handler: (Envelope) async throws -> [Envelope]
    ) async throws {
        try await handleUntilShutdown(under: claim, filters, metrics: metrics, whenLive: whenLive) {
            message, checkpoint in
            if let rejection = message.rejection {
                try await publish(rejected(message, rejection, checkpoint))
                return .failed
            }
            let isConcerned = message.concerns(claim.consumer)
            try await publish(Batch(isConcerned ? handler(message) : [], checkpoint: checkpoint))
            return isConcerned ? .handled : .passed
        }
        if !Task.isShuttingDownGracefully {
            try await confirm(claim)
            throw BusError(.fenced, "another process has taken over the durable consumer '\(claim.consumer)'")
        }
    }

    private func rejected(_ message: Envelope, _ rejection: Rejection, _ checkpoint: Checkpoint) throws -> Batch {
        let error = ApplicationError(code: rejection.code, message: rejection.reason)
        // An error about an error would feed itself.
        let messages = message.type.kind == .error ? [] : [try envelope(error, causedBy: message)]
        return Batch(messages, checkpoint: checkpoint, rejection: rejection)
    }

    /// Hands each message that a claim covers to `handle`, with the progress that it is to publish. Returns when the service
    /// is asked to stop, or when the claim no longer says what its member owns.
    func handleUntilShutdown(
        under claim: ConsumerClaim, _ filters: [MessageFilter], metrics: ConsumerMetrics, whenLive: () -> Void,
        handle: (Envelope, Checkpoint) async throws -> ConsumerMetrics.Outcome
    ) async throws {
        metrics.began(claim, filters)
        try await withSubscription(to: filters, under: claim) { messages in
            whenLive()
            metrics.waits(claim.consumer)
            for try await message in messages.endingOnGracefulShutdown() {
                metrics.took(claim.consumer)
                guard let checkpoint = Checkpoint(claim: claim, handled: message) else { continue }
                metrics.record(try await handle(message, checkpoint), checkpoint)
                metrics.waits(claim.consumer)
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
