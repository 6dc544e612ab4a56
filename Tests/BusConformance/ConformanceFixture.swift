internal import EventBus
internal import Foundation
internal import Support
internal import TestSupport

/// The environment of a case: creates buses, which run for as long as the case needs them.
struct ConformanceFixture: Sendable {
    let make: ConformanceCase.MakeBus
    let restartService: ConformanceCase.Restart?

    /// Connects a process to the bus for as long as `body` runs.
    func withBus<Result: Sendable>(
        _ source: String = "conformance/1", _ body: @escaping @Sendable (EventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try await make(source)
        return try await bus.whileOpen { try await body(bus) }
    }

    /// Connects two processes to the bus for as long as `body` runs.
    func withBuses<Result: Sendable>(
        _ body: @escaping @Sendable (_ first: EventBus, _ second: EventBus) async throws -> Result
    ) async throws -> Result {
        try await withBus("conformance/1") { first in
            try await withBus("conformance/2") { second in try await body(first, second) }
        }
    }

    func restart() async throws {
        guard let restartService else {
            throw BusError(.unavailable, "a case that needs survivesRestart must be run with a restart function")
        }
        try await restartService(.stays)
    }

    /// Runs `body`, then replaces the journal by its earlier content, and returns when `bus` is in the new epoch.
    func losingEnd(_ bus: EventBus, _ body: () async throws -> Void) async throws {
        guard let restartService else { return try await restart() }
        try await restartService(.isCopied)
        let epoch = try await bus.inspect.end().epoch
        try await body()
        try await restartService(.isPutBack)
        while try await bus.inspect.end().epoch == epoch { try await Task.sleep(for: .milliseconds(50)) }
    }
}

extension EventBus {
    /// Handles numbers as a member of a durable consumer, and publishes a ``Handled`` for each.
    /// - Parameter name: The name of the worker; by default the source of the process.
    func work(
        as consumer: String = "workers", mode: ConsumerMode = .shared, name: String? = nil
    ) async throws {
        let source = source
        try await consume(as: consumer, [.type(Counted.self)], mode: mode) { message in
            let number = try message.decode(Counted.self).number
            return [try Envelope(Handled(number: number, worker: name ?? source), source: source, causedBy: message)]
        }
    }

    /// Gives up a message, so that it becomes a dead letter.
    func reject(_ message: Envelope, under claim: ConsumerClaim, results: [Envelope] = []) async throws {
        let rejection = Rejection(code: "conformance.unusable", reason: "it is of no use", attempts: 3)
        try await publish(
            Batch(results, checkpoint: Checkpoint(claim: claim, handled: Delivery(message)), rejection: rejection))
    }

    /// Gives up the first `count` messages.
    @discardableResult
    func giveUp(_ count: Int, as consumer: String) async throws -> [DeadLetter] {
        try await engine.withMember(of: consumer, .exclusive) { member in
            let claim = try await claim(consumer: consumer, as: member)
            for message in try await read(count, under: claim) { try await reject(message, under: claim) }
        }
        return try await inspect.deadLetters(of: consumer)
    }

    /// Reads the first `count` numbers that a claim covers. Records no progress.
    func read(_ count: Int, under claim: ConsumerClaim) async throws -> [Envelope] {
        try await withSubscription(to: [.type(Counted.self)], under: claim) { try await $0.receive(count) }
    }
}

extension ConsumerClaim {
    /// A subject in one of the partitions of this claim.
    func subject() throws -> String {
        let subjects = (0..<10_000).lazy.map { "session-\($0)" }
        guard let subject = subjects.first(where: { offsets.keys.contains(Partition(subject: $0)) }) else {
            throw BusError(.refused, "the claim owns no partition")
        }
        return subject
    }
}

extension EventBus {
    func ask(_ question: Question, timeout: Duration = .seconds(5)) async throws -> Question.Answer {
        try await ask(question, timeout: timeout) { BusError(.refused, "the answer is \($0.type)") }
    }

    /// Answers questions for as long as `body` runs.
    func whileAnswering<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let source = source
        return try await whileAnswering({ try $0.answer(by: source) }, during: body)
    }

    /// Answers questions with `answer` for as long as `body` runs.
    func whileAnswering<Result: Sendable>(
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope,
        during body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let serving = Latch()
        return try await withBackground([{ try await serve([Question.type], whenServing: serving.open, answer) }]) {
            await serving.waitUntilOpenOrCancelled()
            return try await body()
        }
    }
}

extension Envelope {
    /// Creates the answer to a ``Question``.
    func answer(by server: String) throws -> Envelope {
        let answer = Question.Answer(number: try decode(Question.self).number, server: server)
        var envelope = try Envelope(Question(number: 0), source: server, causedBy: self)
        envelope.data = try JSONWriter.data(of: answer)
        return envelope
    }
}

extension MessageSequence {
    /// The messages before the next ``Marker``. A case publishes a marker to check that no other message has arrived.
    func beforeMarker() async throws -> [Envelope] {
        var messages: [Envelope] = []
        for try await message in self {
            if message.type == Marker.type { break }
            messages.append(message)
        }
        return messages
    }
}

extension Sequence<Envelope> {
    var offsets: [UInt64] { compactMap(\.position?.offset) }
}
