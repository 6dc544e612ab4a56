internal import Synchronization
internal import SystemSupport
internal import ZeroMQ

/// Keeps descriptors free for the broker itself, however many peers connect.
///
/// libzmq accepts each connection, and a process without a free descriptor fails in places that it cannot guard: the
/// next file, libzmq's look-up of an address, libdispatch's look at its own threads. So the connections have a limit. It
/// has a thread of its own, because the broker may be at work for longer than a flood needs.
final class ConnectionLimiter: Sendable {
    /// The time in which a peer must complete its handshake. A handshake has four round trips, and a lost packet costs
    /// one or three seconds more, so a shorter time would shut out slow networks. It limits nothing: when there are too
    /// many connections, those without a key end sooner.
    static let handshakeLimit: Duration = .seconds(10)

    private let thread = ExecutorThread(name: "connections")
    private let state: Mutex<State>

    private struct State {
        var table: ConnectionTable
        var ended = EndedConnections()
    }

    /// The maximum number of connections.
    let limit: Int

    /// - Parameter limit: Nil for as many as the process may have descriptors for.
    init(limit: Int?, _ userLimits: UserLimits) {
        let limit = limit ?? Self.connectionLimit(descriptors: DescriptorLimit.current)
        self.limit = limit
        state = Mutex(
            State(
                table: ConnectionTable(limit: limit, userLimits: userLimits, handshakeLimit: Self.handshakeLimit)))
    }

    deinit {
        thread.stop()
    }

    /// The maximum number of connections of a process that may have `descriptors`. The broker itself needs about 40. The
    /// others of the reserve are for connections that libzmq has accepted and this thread has not seen yet: at most
    /// ``SocketMonitor/capacity`` of each socket, because then libzmq waits. With fewer descriptors than that, it is a
    /// matter of time whether a flood can take them all for a moment.
    static func connectionLimit(descriptors: Int) -> Int {
        max(16, descriptors - max(64, min(descriptors / 2, 2 * SocketMonitor.capacity + 64)))
    }

    /// Watches the connections of a socket, until ``stopWatching(_:of:)``. Call this on the thread of the socket before it
    /// binds.
    /// - Parameter onRefusal: Called on another thread for each handshake that fails before the key is known, with the
    ///   address of the peer that has connected last: the event does not name the peer.
    func watch(
        _ socket: Socket, of side: ConnectionTable.Side, onRefusal: @escaping @Sendable (String) -> Void
    ) throws -> ConnectionWatch {
        let monitor = try SocketMonitor(isBounded: true)
        try monitor.receiveEvents(of: socket)
        let watch = ConnectionWatch(monitor)
        thread.perform { [weak self] in
            guard let self else { return }
            var last: AcceptedConnection?
            watch.start(on: thread) { [weak self] event in
                switch event {
                case .accepted(let connection):
                    last = connection
                    self?.open(connection, of: side)
                case .disconnected(let descriptor): self?.state.withLock { $0.table.close(descriptor, of: side) }
                case .mechanismRefused: onRefusal(last?.address ?? "")
                case .connected, .keyRefused: break
                }
            }
        }
        return watch
    }

    /// Forgets the connections of a socket that was closed.
    func stopWatching(_ watch: ConnectionWatch, of side: ConnectionTable.Side) {
        thread.perform { [weak self] in
            guard let self else { return }
            watch.stop(on: thread)
            state.withLock { $0.table.closeAll(of: side) }
        }
    }

    private func open(_ connection: AcceptedConnection, of side: ConnectionTable.Side) {
        end("more than \(limit) were open, and these have sent nothing") { $0.open(connection, of: side, at: .now) }
    }

    /// Ends connections.
    private func end(_ reason: String, _ find: (inout ConnectionTable) -> [AcceptedConnection]) {
        let ended = state.withLock { state in
            let ended = find(&state.table)
            for connection in ended { state.ended.record(connection, reason) }
            return ended
        }
        for connection in ended { connection.end() }
    }

    /// Records that messages have come over connections. Ends those that are too many for their users.
    func speak(_ senders: [ConnectionTable.Sender], of side: ConnectionTable.Side) {
        guard !senders.isEmpty else { return }
        end("their keys have too many connections") { table in
            senders.compactMap { table.speak($0, of: side) }
        }
    }

    /// Records new subscriptions, and the ends of others. Ends the connections that are too many for their users.
    func subscribe(_ changes: [(sender: ConnectionTable.Sender, isEnd: Bool)]) {
        guard !changes.isEmpty else { return }
        end("their keys have too many subscriptions") { table in
            changes.compactMap { table.subscribe($0.sender, isEnd: $0.isEnd) }
        }
    }

    /// Ends the connections of subscriptions that are not allowed.
    func endSubscribers(_ senders: [ConnectionTable.Sender]) {
        let ended = state.withLock { state in senders.compactMap { state.table.end($0, of: .feed) } }
        for connection in ended { connection.end() }
    }

    /// Ends connections to the ingress over which more requests have come than may wait.
    func endOverflown(_ senders: [ConnectionTable.Sender]) {
        guard !senders.isEmpty else { return }
        end("their keys have too many requests waiting") { table in
            senders.compactMap { table.end($0, of: .ingress) }
        }
    }

    /// Ends the connections that are silent, and watches those over which much has come.
    func check() {
        thread.perform { [weak self] in
            self?.end("they have sent nothing") { $0.check(at: .now) { $0.receivedSize } }
        }
    }

    /// Ends the connections whose message has no end. Call this when all messages of the side were received.
    func checkWatched(of side: ConnectionTable.Side) {
        guard state.withLock({ $0.table.hasWatched(of: side) }) else { return }
        end("their message had no end") { $0.checkWatched(of: side) { $0.receivedSize } }
    }

    /// The connections since the last call that were ended.
    func drainEnded() -> EndedConnections {
        state.withLock { state in
            defer { state.ended = EndedConnections() }
            return state.ended
        }
    }
}

/// Connections that were ended so that others have room.
struct EndedConnections {
    private(set) var count = 0
    private var last: AcceptedConnection?
    /// Why the last one was ended.
    private(set) var reason = ""

    /// The address of the last one, or `ipc` if it has none.
    var address: String { last?.address ?? "ipc" }

    mutating func record(_ connection: AcceptedConnection, _ reason: String) {
        count += 1
        (last, self.reason) = (connection, reason)
    }
}

/// The watch of the connections of one socket.
///
/// - Note: `@unchecked Sendable`: the monitor is given to one thread, which alone uses it from ``start(on:_:)`` on. libzmq
///   allows this if a lock is between the two threads; that of the thread's queue is.
final class ConnectionWatch: @unchecked Sendable {
    private let monitor: SocketMonitor
    private var watch: SocketWatch?

    fileprivate init(_ monitor: SocketMonitor) {
        self.monitor = monitor
    }

    fileprivate func start(on thread: ExecutorThread, _ onEvent: @escaping (SocketMonitor.Event) -> Void) {
        thread.checkIsolated()
        let watch = monitor.watch(onEvent)
        self.watch = watch
        thread.add(watch)
    }

    fileprivate func stop(on thread: ExecutorThread) {
        thread.checkIsolated()
        if let watch { thread.remove(watch) }
    }
}
