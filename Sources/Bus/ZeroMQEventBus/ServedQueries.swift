internal import BusFormat
internal import EventBus
internal import OrderedCollections

/// The queries that this process answers: the types that each call of `serve` offers, and the queries that are not
/// answered yet.
struct ServedQueries {
    /// The maximum number of unanswered queries of one server. Further queries are refused at once.
    static let capacity = 256

    private struct Server {
        let types: [MessageType]
        var open: OrderedSet<UInt64> = []
    }

    private var servers: OrderedDictionary<UInt64, Server> = [:]
    /// The server of each unanswered query, by the broker's query number.
    private var open: [UInt64: UInt64] = [:]

    /// All types that this process serves, sorted.
    var types: [MessageType] {
        Set(servers.values.flatMap(\.types)).sorted { $0.description < $1.description }
    }

    var isEmpty: Bool { servers.isEmpty }

    mutating func add(_ types: [MessageType], as server: UInt64) {
        servers[server] = Server(types: types)
    }

    /// Removes a server.
    /// - Returns: The queries that it has not answered; nil if there is no such server.
    mutating func remove(_ server: UInt64) -> [UInt64]? {
        guard let queries = servers.removeValue(forKey: server)?.open else { return nil }
        for query in queries { open[query] = nil }
        return Array(queries)
    }

    enum Reception {
        case work(server: UInt64)
        case refuse(reason: String)
        /// The query has been received before.
        case none
    }

    /// Assigns a query to a server. A query that was received before and is not answered yet is ignored.
    mutating func receive(_ message: PublishedMessage, id: UInt64, source: String) -> Reception {
        let type = Topic(message.topic)?.type
        guard let server = servers.first(where: { $0.value.types.contains { $0 == type } })?.key else {
            return .refuse(reason: "this process no longer serves \(message.topic)")
        }
        guard open[id] == nil else { return .none }
        guard servers[server]?.open.count ?? 0 < Self.capacity else {
            return .refuse(reason: "\(source) already has \(Self.capacity) unanswered queries; ask again later")
        }
        servers[server]?.open.append(id)
        open[id] = server
        return .work(server: server)
    }

    /// Removes a query that is answered, or whose asker no longer waits.
    mutating func finish(_ id: UInt64) {
        open.removeValue(forKey: id).map { _ = servers[$0]?.open.remove(id) }
    }
}
