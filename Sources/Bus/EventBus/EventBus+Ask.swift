extension EventBus {
    /// Puts a query and reads its answer.
    /// - Parameters:
    ///   - timeout: how long to wait for it.
    ///   - failure: what is thrown for an answer that is an error; a ``BusError`` with code `refused` unless said.
    /// - Throws: ``BusError`` as ``ask(_:timeout:)``, or `malformed` when the answer is not what the query promises.
    public func ask<Query: QueryMessage>(
        _ query: Query, subject: String = Session.default, timeout: Duration = .seconds(5),
        failure: (Envelope) -> any Error = { BusError(.refused, "the answer is \($0.type)") }
    ) async throws -> Query.Answer {
        let answer = try await ask(Envelope(query, source: source, subject: subject), timeout: timeout)
        if answer.type.kind == .error { throw failure(answer) }
        return try answer.decodeData(as: Query.Answer.self)
    }
}
