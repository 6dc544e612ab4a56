internal import EventBus
internal import Foundation

extension EventBus {
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
        let serving = Signal()
        return try await withBackground([{ try await serve([Question.type], whenServing: serving.send, answer) }]) {
            await serving.wait()
            return try await body()
        }
    }
}

extension Envelope {
    /// The answer to a ``Question``.
    func answer(by server: String) throws -> Envelope {
        let answer = Question.Answer(number: try decode(Question.self).number, server: server)
        var envelope = try Envelope(Question(number: 0), source: server, causedBy: self)
        envelope.data = try JSONEncoder.wire.encode(answer)
        return envelope
    }
}
