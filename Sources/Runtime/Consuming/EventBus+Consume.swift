public import EventBus
internal import Logging

extension EventBus {
    /// Consumes durably: each matching message is handed to `handler`, and what it returns is journalled in one batch with
    /// the progress. A crash may repeat a call of the handler, never half of its result.
    ///
    /// Members that share a consumer divide its partitions among them. Messages of one partition, and so of one subject, are
    /// handled in their order; several partitions are handled at the same time. A message whose results are refused, or whose
    /// header cannot be read, becomes a dead letter.
    ///
    /// Returns only by throwing: `CancellationError`, ``BusError`` (`fenced`: another process has taken an exclusive consumer
    /// over), or what `handler` throws.
    public func consume(
        as consumer: String, _ filters: [MessageFilter], mode: ConsumerMember.Mode = .exclusive,
        handler: @escaping @Sendable (Envelope) async throws -> [Envelope]
    ) async throws {
        switch mode {
        case .shared:
            try await plainLoop(consumer, filters)
                .runShared(partitionsAtOnce: Partition.count) { Handled(try await handler($0)) }
        case .exclusive:
            while true {
                let claim = try await claim(consumer: consumer)
                do {
                    try await consume(under: claim, filters, handler: handler)
                } catch let error as BusError where [.epoch, .unrecorded].contains(error.code) {
                    // The journal was replaced: the next claim says what counts.
                }
            }
        }
    }

    /// As ``consume(as:_:mode:handler:)``, for a consumer that reads its own state between claiming and consuming.
    /// - Throws: also ``BusError`` with code `epoch` when the journal was replaced.
    public func consume(
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
