public import EventBus

/// The queries of apps; each is a struct inside, on the wire `query.Name`. The platform has none of its own.
public enum Query {}

extension EventBus {
    /// Puts a query and reads its answer.
    /// - Parameter timeout: how long to wait for it.
    /// - Throws: ``ApplicationError`` when that is the answer; ``BusError``: `unserved` when nobody serves the query, `deadline`
    ///   when no answer came in time, `cancelled` when whoever served it stopped, `malformed` when the answer is not what the
    ///   query promises.
    public func ask<Q: QueryMessage>(
        _ query: Q, subject: String = Session.default, timeout: Duration = .seconds(5)
    ) async throws -> Q.Answer {
        try await ask(query, subject: subject, timeout: timeout) { answer in
            do { return try answer.decode(ApplicationError.self) } catch { return error }
        }
    }
}
