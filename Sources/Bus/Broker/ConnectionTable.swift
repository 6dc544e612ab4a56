internal import ZeroMQ

/// The open connections of a broker's sockets, and which of them must end so that nobody takes all.
///
/// A connection has *spoken* when a message has come over it: libzmq delivers none before the handshake has shown the
/// key. Those over IPC cannot be told apart, because libzmq does not say from which one a message is; their peers are
/// processes of the broker's own user.
struct ConnectionTable {
    enum Side { case ingress, feed }

    /// The connection of a message.
    struct Sender: Hashable {
        let descriptor: Int32
        /// Nil on a bus without keys.
        let user: String?

        /// Nil over IPC.
        init?(_ message: Socket.Received) {
            guard let descriptor = message.descriptor else { return nil }
            self.init(descriptor: descriptor, user: message.user)
        }

        init(descriptor: Int32, user: String?) {
            (self.descriptor, self.user) = (descriptor, user)
        }
    }

    private struct Key: Hashable {
        let side: Side
        let descriptor: Int32
    }

    private struct Entry {
        let connection: AcceptedConnection
        /// Grows from one connection to the next.
        let number: UInt64
        let time: ContinuousClock.Instant
        var hasSpoken = false
        /// Nil until it has spoken, and on a bus without keys.
        var user: String?
        var subscriptionCount = 0
        /// The number of bytes that had come when the last watch began.
        var receivedSize: UInt64 = 0
        /// True from a check that found many new bytes to the next message.
        var isWatched = false
    }

    /// The maximum number of connections.
    let limit: Int
    private let userLimits: UserLimits
    private let handshakeLimit: Duration
    private var entries: [Key: Entry] = [:]
    /// The number of watched connections of each side.
    private var watchedCounts: [Side: Int] = [:]
    private var lastNumber: UInt64 = 0
    /// The connections and subscriptions of each user.
    private var (connectionCounts, subscriptionCounts) = (UserCounts(), UserCounts())

    /// The number of bytes that only a message without end has: one frame has at most 8 MiB, the others are small, and
    /// the kernel keeps some MiB.
    static let messageSize: UInt64 = 32 << 20

    /// - Parameter handshakeLimit: The time in which libzmq ends a handshake.
    init(limit: Int, userLimits: UserLimits = UserLimits(), handshakeLimit: Duration) {
        (self.limit, self.userLimits, self.handshakeLimit) = (limit, userLimits, handshakeLimit)
    }

    var count: Int { entries.count }

    // MARK: Opening and closing

    /// Records a new connection.
    /// - Returns: The connections to end, if there are too many: enough that this is rare, and the oldest silent ones of
    ///   those addresses that have the most, so that a flood from one address ends no connection of another one.
    mutating func open(
        _ connection: AcceptedConnection, of side: Side, at now: ContinuousClock.Instant
    ) -> [AcceptedConnection] {
        let key = Key(side: side, descriptor: connection.descriptor)
        remove(key)
        lastNumber += 1
        entries[key] = Entry(connection: connection, number: lastNumber, time: now)
        return count > limit ? removeExcess() : []
    }

    private mutating func removeExcess() -> [AcceptedConnection] {
        // Over IPC nothing shows who has spoken, so those that are older than a handshake are kept.
        let newest = entries.values.map(\.time).max()
        let candidates = entries.filter { _, entry in
            guard !entry.hasSpoken else { return false }
            return entry.connection.isRemote || newest.map { $0 - entry.time <= handshakeLimit } ?? true
        }
        let excess = min(candidates.count, count - limit + limit / 16)
        guard excess > 0 else { return [] }
        let newestFirst = candidates.sorted { $0.value.number > $1.value.number }
        var counts: [ArraySlice<UInt8>: Int] = [:]
        let ranked = newestFirst.map { key, entry in
            let rank = counts[entry.connection.host, default: 0]
            counts[entry.connection.host] = rank + 1
            return (key: key, rank: rank, entry: entry)
        }
        let removed = ranked.sorted { ($0.rank, $1.entry.number) > ($1.rank, $0.entry.number) }.prefix(excess)
        return removed.compactMap { remove($0.key) }
    }

    mutating func close(_ descriptor: Int32, of side: Side) {
        remove(Key(side: side, descriptor: descriptor))
    }

    /// Records that a socket was closed with all its connections.
    mutating func closeAll(of side: Side) {
        for key in entries.keys where key.side == side { remove(key) }
    }

    @discardableResult
    private mutating func remove(_ key: Key) -> AcceptedConnection? {
        guard var entry = entries.removeValue(forKey: key) else { return nil }
        if entry.isWatched { watchedCounts[key.side, default: 0] -= 1 }
        setUser(nil, of: &entry)
        return entry.connection
    }

    private mutating func setUser(_ user: String?, of entry: inout Entry) {
        if let old = entry.user {
            connectionCounts.add(-1, to: old)
            subscriptionCounts.add(-entry.subscriptionCount, to: old)
        }
        if let user { connectionCounts.add(1, to: user) }
        (entry.user, entry.subscriptionCount) = (user, 0)
    }

    // MARK: Messages

    /// Records that a message has come over a connection.
    /// - Returns: The connection, if it must end because its user has too many.
    mutating func speak(_ sender: Sender, of side: Side) -> AcceptedConnection? {
        let key = Key(side: side, descriptor: sender.descriptor)
        guard var entry = entries[key] else { return nil }
        if entry.isWatched {
            entry.isWatched = false
            watchedCounts[side, default: 0] -= 1
        }
        if !entry.hasSpoken || entry.user != sender.user {
            // libzmq may still deliver messages of an ended connection that had the same descriptor.
            setUser(sender.user, of: &entry)
            entry.hasSpoken = true
        }
        entries[key] = entry
        guard let user = entry.user, connectionCounts[user] > userLimits.connections else { return nil }
        return remove(key)
    }

    /// Records a new subscription, or the end of one.
    /// - Returns: The connection, if it must end because its user has too many subscriptions.
    mutating func subscribe(_ sender: Sender, isEnd: Bool = false) -> AcceptedConnection? {
        let key = Key(side: .feed, descriptor: sender.descriptor)
        guard let entry = entries[key], let user = entry.user, !isEnd || entry.subscriptionCount > 0 else { return nil }
        let change = isEnd ? -1 : 1
        entries[key]?.subscriptionCount += change
        subscriptionCounts.add(change, to: user)
        return subscriptionCounts[user] > userLimits.subscriptions ? remove(key) : nil
    }

    /// Forgets the connection of a message, to end it.
    /// - Returns: Nil if the descriptor is that of another user's connection meanwhile.
    mutating func end(_ sender: Sender, of side: Side) -> AcceptedConnection? {
        let key = Key(side: side, descriptor: sender.descriptor)
        // The message may have come before the table knows its connection.
        guard let entry = entries[key] else { return AcceptedConnection(descriptor: sender.descriptor) }
        return entry.hasSpoken && entry.user != sender.user ? nil : remove(key)
    }

    // MARK: Checks

    /// Checks the TCP connections. Those to the feed may be silent: a client may subscribe to nothing.
    /// - Parameter receivedSize: Returns the number of bytes that have come over a connection; nil if it has ended.
    /// - Returns: The TCP connections that are silent although a handshake and a message would have had the time. They
    ///   are forgotten, to end them.
    mutating func check(
        at now: ContinuousClock.Instant, receivedSize: (AcceptedConnection) -> UInt64?
    ) -> [AcceptedConnection] {
        var silent: [Key] = []
        for (key, entry) in entries where entry.connection.isRemote {
            if key.side == .ingress, !entry.hasSpoken, now - entry.time > handshakeLimit * 2 {
                silent.append(key)
            } else if !entry.isWatched, let size = receivedSize(entry.connection),
                size > entry.receivedSize + Self.messageSize / 4
            {
                entries[key]?.receivedSize = size
                entries[key]?.isWatched = true
                watchedCounts[key.side, default: 0] += 1
            }
        }
        return silent.compactMap { remove($0) }
    }

    /// True if ``checkWatched(of:receivedSize:)`` has an effect for some connection.
    func hasWatched(of side: Side) -> Bool { watchedCounts[side, default: 0] > 0 }

    /// Called when all messages that libzmq had from one side were received.
    /// - Returns: The connections over which more bytes have come than a message may have, and yet no message. They are
    ///   forgotten, to end them.
    mutating func checkWatched(
        of side: Side, receivedSize: (AcceptedConnection) -> UInt64?
    ) -> [AcceptedConnection] {
        let endless = entries.filter { key, entry in
            guard key.side == side, entry.isWatched, let size = receivedSize(entry.connection) else { return false }
            return size > entry.receivedSize + Self.messageSize
        }
        return endless.compactMap { remove($0.key) }
    }
}
