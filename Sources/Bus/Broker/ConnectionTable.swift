internal import ZeroMQ

/// The open connections of a broker's sockets. If there are too many, some of those that have not proved a key end.
///
/// A connection has proved a key when a message has come over it, because libzmq delivers none before, or when it is
/// older than the handshake may take.
struct ConnectionTable {
    enum Side { case ingress, feed }

    private struct Key: Hashable {
        let side: Side
        let descriptor: Int32
    }

    private struct Pending {
        let connection: AcceptedConnection
        /// Grows from one connection to the next.
        let number: UInt64
        let time: ContinuousClock.Instant
    }

    /// The maximum number of connections.
    let limit: Int
    private let handshakeLimit: Duration
    /// The connections that have not proved a key.
    private var pending: [Key: Pending] = [:]
    private var proven: Set<Key> = []
    private var lastNumber: UInt64 = 0

    init(limit: Int, handshakeLimit: Duration) {
        (self.limit, self.handshakeLimit) = (limit, handshakeLimit)
    }

    var count: Int { pending.count + proven.count }
    var hasPending: Bool { !pending.isEmpty }

    /// Records a new connection.
    /// - Returns: The connections to end, if there are too many: enough that this is rare, and the oldest of those
    ///   addresses that have the most, so that a flood from one address ends no connection of another one.
    mutating func open(
        _ connection: AcceptedConnection, of side: Side, at now: ContinuousClock.Instant
    ) -> [AcceptedConnection] {
        let key = Key(side: side, descriptor: connection.descriptor)
        lastNumber += 1
        proven.remove(key)
        pending[key] = Pending(connection: connection, number: lastNumber, time: now)
        guard count > limit else { return [] }
        for (key, known) in pending where now - known.time > handshakeLimit { prove(key) }
        return removeExcess()
    }

    private mutating func removeExcess() -> [AcceptedConnection] {
        let excess = min(pending.count, count - limit + limit / 16)
        guard excess > 0 else { return [] }
        let newestFirst = pending.sorted { $0.value.number > $1.value.number }
        var counts: [ArraySlice<UInt8>: Int] = [:]
        let ranked = newestFirst.map { key, known in
            let rank = counts[known.connection.host, default: 0]
            counts[known.connection.host] = rank + 1
            return (key: key, rank: rank, known: known)
        }
        let removed = ranked.sorted { ($0.rank, $1.known.number) > ($1.rank, $0.known.number) }.prefix(excess)
        for (key, _, _) in removed { pending[key] = nil }
        return removed.map(\.known.connection)
    }

    /// Records that a message has come over a connection.
    mutating func prove(_ descriptor: Int32, of side: Side) {
        prove(Key(side: side, descriptor: descriptor))
    }

    private mutating func prove(_ key: Key) {
        if pending.removeValue(forKey: key) != nil { proven.insert(key) }
    }

    mutating func close(_ descriptor: Int32, of side: Side) {
        let key = Key(side: side, descriptor: descriptor)
        if pending.removeValue(forKey: key) == nil { proven.remove(key) }
    }

    /// Records that a socket was closed with all its connections.
    mutating func closeAll(of side: Side) {
        pending = pending.filter { $0.key.side != side }
        proven = proven.filter { $0.side != side }
    }
}
