public import EventBus

/// The namespace for the queries of apps. Each nested struct is one query; its type on the wire is `query.Name`. The
/// platform itself has no queries.
public enum Query {}

extension EventBus {
    /// Sends a query and returns its answer.
    /// - Parameter timeout: The time to wait for the answer.
    /// - Throws: ``ApplicationError`` if the answer is an error; ``BusError`` with one of these codes: `unserved` if no
    ///   process serves the query, `deadline` if no answer came in time, `cancelled` if the serving process stopped,
    ///   `malformed` if the answer cannot be decoded.
    public func ask<Q: QueryMessage>(
        _ query: Q, subject: String = Session.default, timeout: Duration = .seconds(5)
    ) async throws -> Q.Answer {
        try await ask(query, subject: subject, timeout: timeout) { answer in
            do { return try answer.decode(ApplicationError.self) } catch { return error }
        }
    }
}
