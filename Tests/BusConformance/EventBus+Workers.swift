internal import Consuming
internal import EventBus

extension EventBus {
    /// Handles numbers as one of those who share a consumer, and answers each with a ``Handled``.
    /// - Parameter name: of the worker; the process's unless said.
    func work(
        as consumer: String = "workers", mode: ConsumerMember.Mode = .shared, name: String? = nil
    ) async throws {
        let source = source
        try await consume(as: consumer, [.type(Numbered.self)], mode: mode) { message in
            let number = try message.decode(Numbered.self).number
            return [try Envelope(Handled(number: number, worker: name ?? source), source: source, causedBy: message)]
        }
    }

    /// Gives a message up.
    func reject(_ message: Envelope, under claim: ConsumerClaim, results: [Envelope] = []) async throws {
        let rejection = Rejection(code: "conformance.unusable", reason: "it is of no use", attempts: 3)
        try await publish(
            Batch(results, checkpoint: Checkpoint(claim: claim, handled: message), rejection: rejection))
    }

    /// Gives up the first `count` messages.
    @discardableResult
    func giveUp(_ count: Int, as consumer: String) async throws -> [DeadLetter] {
        try await withMember(of: consumer, .exclusive) { member in
            let claim = try await claim(consumer: consumer, as: member)
            for message in try await read(count, under: claim) { try await reject(message, under: claim) }
        }
        return try await deadLetters(of: consumer)
    }

    /// The first `count` numbers that a claim covers, without progress.
    func read(_ count: Int, under claim: ConsumerClaim) async throws -> [Envelope] {
        try await withSubscription(to: [.type(Numbered.self)], under: claim) { try await $0.take(count) }
    }
}

extension ConsumerClaim {
    /// A subject in one of the partitions of this claim.
    func subject() throws -> String {
        let subjects = (0..<10_000).lazy.map { "session-\($0)" }
        guard let subject = subjects.first(where: { offsets.keys.contains(Partition(subject: $0)) }) else {
            throw BusError(.refused, "the claim owns nothing")
        }
        return subject
    }
}
