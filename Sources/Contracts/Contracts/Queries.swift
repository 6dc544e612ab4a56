public import EventBus

/// The namespace for queries. Each nested struct is one query; its type on the wire is `query.Name`. Segue itself has
/// no queries.
public enum Query {}

extension EventBus {
    /// Sends a query and returns its answer.
    /// - Parameter timeout: The maximum time to wait for the answer.
    /// - Throws: ``ApplicationError`` if the answer is an error. `BusError`, for example with these codes: `unserved`
    ///   if no process serves the query, or if the process that served it has ended; `deadline` if no answer came
    ///   within `timeout`; `cancelled` if the process that served the query stopped or could not answer; `malformed` if
    ///   the answer cannot be decoded.
    public func ask<Q: QueryMessage>(
        _ query: Q, subject: String = Session.default, timeout: Duration = .seconds(5)
    ) async throws -> Q.Answer {
        try await ask(query, subject: subject, timeout: timeout) { answer in
            do { return try answer.decode(ApplicationError.self) } catch { return error }
        }
    }
}
