package import EventBus
internal import Logging

extension EventBus {
    /// Consumes messages durably: passes matching messages to `handler`, and publishes the messages that it returns in
    /// one batch with the consumer's progress. After a crash the handler may be called again for the same message.
    ///
    /// Members that share a consumer divide its partitions among them. Messages of one partition, and so of one
    /// subject, are handled in order; several partitions are handled at the same time. A message whose results the bus
    /// refuses, or whose header cannot be read, is moved to the dead letters.
    ///
    /// Runs until the task is cancelled, the service is asked to stop, or an error is thrown. If the service is asked
    /// to stop, this method returns in shared mode and throws `CancellationError` in exclusive mode.
    /// - Throws: `CancellationError`, ``BusError`` (`fenced`: another process has taken over an exclusive consumer),
    ///   and the errors of `handler`.
    package func consume(
        as consumer: String, _ filters: [MessageFilter], mode: ConsumerMode = .exclusive,
        handler: @escaping @Sendable (Envelope) async throws -> [Envelope]
    ) async throws {
        switch mode {
        case .shared:
            try await plainLoop(consumer, filters)
                .runShared(partitionsAtOnce: Partition.count) { Handled(try await handler($0)) }
        case .exclusive:
            let member = ConsumerMember.exclusive
            while true {
                // If another process has taken over, this claim throws `fenced`: it is not the member's first one.
                let claim = try await engine.claim(consumer: consumer, as: member)
                do {
                    try await consume(under: claim, filters, handler: handler)
                } catch let error as BusError where [.epoch, .unrecorded, .fenced].contains(error.code) {
                    // The journal was replaced or has lost its last messages, or the bus has ended the claim because the
                    // process was silent. The next claim gives the new position.
                }
            }
        }
    }

    /// Consumes under a claim in the same way as ``consume(as:_:mode:handler:)`` in exclusive mode. A consumer that
    /// restores its own state reads it after the claim and before this call.
    /// - Throws: the errors of ``consume(as:_:mode:handler:)``, and ``BusError`` with the code `epoch` or `unrecorded`
    ///   if the claim has become invalid, for example because the journal was replaced.
    package func consume(
        under claim: ConsumerClaim, _ filters: [MessageFilter],
        handler: @escaping @Sendable (Envelope) async throws -> [Envelope]
    ) async throws {
        try await plainLoop(claim.consumer, filters)
            .run(under: claim, partitionsAtOnce: Partition.count) { Handled(try await handler($0)) }
        throw CancellationError()
    }

    private func plainLoop(_ consumer: String, _ filters: [MessageFilter]) -> ConsumerLoop {
        ConsumerLoop(consumer, filters, bus: self, logger: Logger(label: consumer) { _ in SwiftLogNoOpLogHandler() })
    }
}
