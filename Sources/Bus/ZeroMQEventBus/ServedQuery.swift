internal import BusProtocol

/// A query on its way to whoever answers it.
struct ServedQuery: Sendable {
    /// The broker's number.
    let id: UInt64
    let message: PublishedMessage
    /// Ends when nobody waits for the answer any more.
    let cancellation: AsyncStream<Never>
}
