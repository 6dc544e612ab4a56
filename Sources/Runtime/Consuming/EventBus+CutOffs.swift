internal import Contracts
package import EventBus
package import Logging

extension EventBus {
    /// Tells what retention removed before a durable consumer had handled it. Once: with progress recorded, the next claim
    /// does not name it any more.
    /// - Parameter filters: those of the consumer.
    package func tellCutOffs(of claim: ConsumerClaim, _ filters: [MessageFilter], logger: Logger) async throws {
        guard !claim.cutOffs.isEmpty, !claim.offsets.isEmpty else { return }
        var messages: [Envelope] = []
        if let error = claim.cutOffError(of: filters) {
            logger.error("\(error.message)")
            messages.append(try Envelope(error, source: source))
        }
        try await publish(Batch(messages, checkpoint: Checkpoint(claim: claim, position: claim.position)))
    }
}

extension ConsumerClaim {
    fileprivate func cutOffError(of filters: [MessageFilter]) -> ApplicationError? {
        let missed = cutOffs.filter { cutOff in
            filters.contains { $0.matches(cutOff.type, subject: $0.subject ?? Session.default) }
        }
        guard !missed.isEmpty else { return nil }
        let list = missed.map { cutOff in
            "\(cutOff.count) \(cutOff.type) (offsets \(cutOff.offsets.lowerBound) to \(cutOff.offsets.upperBound))"
        }
        return ApplicationError(
            code: "journal.cutoff",
            message: "the journal was cut off before \(consumer) had handled \(list.joined(separator: ", "))",
            recovery: "let the broker keep a larger journal, and see why \(consumer) was behind")
    }
}
