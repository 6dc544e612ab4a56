internal import BusProtocol
internal import EventBus
internal import OrderedCollections

/// The queries that this process answers: what each call of `serve` offers, and what it works on.
struct ServedQueries {
    /// The number of queries that one server may have to answer. An asker beyond that is told at once.
    static let capacity = 256

    private struct Server {
        let types: [MessageType]
        var open: OrderedSet<UInt64> = []
    }

    private var servers: OrderedDictionary<UInt64, Server> = [:]
    /// The server of each query that is worked on, by the broker's number.
    private var open: [UInt64: UInt64] = [:]

    /// All types that are served.
    var types: [MessageType] {
        Set(servers.values.flatMap(\.types)).sorted { $0.description < $1.description }
    }

    var isEmpty: Bool { servers.isEmpty }

    mutating func add(_ types: [MessageType], as server: UInt64) {
        servers[server] = Server(types: types)
    }

    /// - Returns: the queries that it has not answered.
    mutating func remove(_ server: UInt64) -> [UInt64]? {
        guard let queries = servers.removeValue(forKey: server)?.open else { return nil }
        for query in queries { open[query] = nil }
        return Array(queries)
    }

    enum Reception {
        case work(server: UInt64)
        case refuse(reason: String)
        /// The query came before.
        case none
    }

    /// Finds the server of a query. The broker hands a query over once, but may repeat it.
    mutating func receive(_ message: PublishedMessage, id: UInt64, source: String) -> Reception {
        let type = Topic(message.topic)?.type
        guard let server = servers.first(where: { $0.value.types.contains { $0 == type } })?.key else {
            return .refuse(reason: "this process no longer serves \(message.topic)")
        }
        guard open[id] == nil else { return .none }
        guard servers[server]?.open.count ?? 0 < Self.capacity else {
            return .refuse(reason: "\(source) has \(Self.capacity) queries to answer already")
        }
        servers[server]?.open.append(id)
        open[id] = server
        return .work(server: server)
    }

    /// The query is answered, or nobody waits for the answer.
    mutating func finish(_ id: UInt64) {
        open.removeValue(forKey: id).map { _ = servers[$0]?.open.remove(id) }
    }
}
