internal import Consuming
package import EventBus
internal import Logging

extension EventBus {
    /// Handles messages with a durable consumer, until the task is cancelled. The messages that `handler` returns are
    /// published in one batch with the consumer's progress. The consumer logs nothing, and claims again without a
    /// pause.
    /// - Throws: `CancellationError`, ``BusError`` (`fenced`: another process has taken over an exclusive consumer),
    ///   and the errors of `handler`.
    package func consume(
        as consumer: String, _ filters: [MessageFilter], mode: ConsumerMode = .exclusive,
        handler: @escaping @Sendable (Envelope) async throws -> [Envelope]
    ) async throws {
        switch mode {
        case .shared:
            try await silentLoop(consumer, filters)
                .runShared(partitionsAtOnce: Partition.count) { Handled(try await handler($0)) }
        case .exclusive:
            let member = ConsumerMember.exclusive
            while true {
                // If another process has taken over, this claim throws `fenced`: it is not the member's first one.
                let claim = try await engine.claim(consumer: consumer, as: member)
                do {
                    try await consume(under: claim, filters, handler: handler)
                } catch let error as BusError where [.epoch, .unrecorded, .fenced].contains(error.code) {
                    // The journal was replaced or has lost its last messages, or the bus has ended the claim because
                    // the process was silent. The next claim gives the new position.
                }
            }
        }
    }

    /// Handles the messages of a claim, until the task is cancelled.
    /// - Throws: the errors of ``consume(as:_:mode:handler:)``, and ``BusError`` with the code `epoch` or `unrecorded`
    ///   if the claim has become invalid, for example because the journal was replaced.
    package func consume(
        under claim: ConsumerClaim, _ filters: [MessageFilter],
        handler: @escaping @Sendable (Envelope) async throws -> [Envelope]
    ) async throws {
        try await silentLoop(claim.consumer, filters)
            .run(under: claim, partitionsAtOnce: Partition.count) { Handled(try await handler($0)) }
        throw CancellationError()
    }

    private func silentLoop(_ consumer: String, _ filters: [MessageFilter]) -> ConsumerLoop {
        ConsumerLoop(consumer, filters, bus: self, logger: .silent)
    }
}
