internal import Logging
internal import NIOCore
internal import Synchronization

/// The open connections of a server. If there are too many, one is closed for each further one: the connection that has
/// been waiting for a whole request for the longest time, of those that have not signed in.
///
/// If there is no such connection, one that has not signed in and is being answered is closed, or else one that has
/// signed in and has no open request. A connection that has signed in and is in use, such as the stream of a page, is
/// never closed; if all are, the new connection is.
final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        /// Grows with each change of the state, over all connections.
        var number: UInt64
        var isSignedIn = false
        var isInUse = false

        /// The class in the order of closing. Nil if the connection is never closed.
        var rank: Int? {
            switch (isSignedIn, isInUse) {
            case (false, false): 0
            case (false, true): 1
            case (true, false): 2
            case (true, true): nil
            }
        }
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var last: UInt64 = 0

        mutating func next() -> UInt64 {
            last += 1
            return last
        }
    }

    private let limit: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter limit: The maximum number of connections.
    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    func open(_ channel: any Channel) {
        let excess = state.withLock { state -> (any Channel)? in
            state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, number: state.next())
            guard state.connections.count > limit else { return nil }
            let candidates = state.connections.filter { $0.value.rank != nil }
            let first = candidates.min { one, other in
                (one.value.rank ?? 0, one.value.number) < (other.value.rank ?? 0, other.value.number)
            }
            // It no longer counts, though its end may take a moment.
            return first.flatMap { state.connections.removeValue(forKey: $0.key) }?.channel
        }
        guard let excess else { return }
        logger.debug("closed a connection: more than \(limit) are open")
        excess.close(promise: nil)
    }

    func close(_ channel: any Channel) {
        state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
    }

    func set(_ channel: any Channel, isSignedIn: Bool, isInUse: Bool) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            // A connection that begins a request keeps its number, so that a request that does not end cannot renew it.
            guard let known = state.connections[id], (known.isSignedIn, known.isInUse) != (isSignedIn, isInUse) else {
                return
            }
            let number = state.next()
            state.connections[id]?.number = number
            state.connections[id]?.isSignedIn = isSignedIn
            state.connections[id]?.isInUse = isInUse
        }
    }
}
