internal import Foundation

/// A query that has no answer yet.
struct InMemoryQuery: Identifiable, Sendable {
    let id = UUID()
    let message: Envelope
    let asker: InMemoryEventBus.ID
    let server: InMemoryServer.ID
    /// Gets the one answer, or the reason why there is none.
    let answer: AsyncStream<Result<Envelope, BusError>>.Continuation
    /// Ends when nobody waits for the answer any longer.
    let isWanted: AsyncStream<Never>
    let settled: AsyncStream<Never>.Continuation
}
