internal import BusProtocol
internal import EventBus

/// One call of `serve`: the queries that wait for it, and those that it works on. It belongs to the bus's thread.
final class QueryServer {
    /// Queries that may wait or be worked on. Who asks beyond that is told at once.
    static let capacity = 256

    let types: [MessageType]
    private let queries: AsyncStream<ServedQuery>.Continuation
    private var cancellations: [UInt64: AsyncStream<Never>.Continuation] = [:]

    init(types: [MessageType], queries: AsyncStream<ServedQuery>.Continuation) {
        self.types = types
        self.queries = queries
    }

    /// - Returns: false when there is no room.
    func take(_ message: PublishedMessage, id: UInt64) -> Bool {
        // The broker hands a query over once, but a cancellation may cross it.
        guard cancellations.count < Self.capacity, cancellations[id] == nil else { return false }
        let (cancellation, continuation) = AsyncStream.makeStream(of: Never.self)
        cancellations[id] = continuation
        queries.yield(ServedQuery(id: id, message: message, cancellation: cancellation))
        return true
    }

    /// Ends the work on a query: it is answered, or nobody waits for it.
    func finish(_ id: UInt64) {
        cancellations.removeValue(forKey: id)?.finish()
    }

    var open: [UInt64] { Array(cancellations.keys) }

    func end() {
        queries.finish()
        open.forEach(finish)
    }
}

/// A query on its way to whoever answers it.
struct ServedQuery: Sendable {
    /// The broker's number.
    let id: UInt64
    let message: PublishedMessage
    /// Ends when nobody waits for the answer any more.
    let cancellation: AsyncStream<Never>
}
