internal import Logging
internal import NIOCore
internal import Synchronization

/// The user who has signed in with the last request of a connection.
package enum ConnectionUser: Sendable {
    /// A person who may use one session.
    case session
    case `operator`
}

/// The open connections of a server. If there are too many, one is closed for each further one: the connection that has
/// been waiting for a whole request for the longest time, of those that have not signed in.
///
/// If there is no such connection, one that has not signed in and is being answered is closed, or else one that has
/// signed in and has no open request, or else one of a session that is in use, such as the stream of a page. A connection
/// of an operator that is in use is never closed; if all are, the new connection is. If more than half are of sessions,
/// one of those is closed, so that sessions leave a new connection the time to sign in.
final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        /// Grows with each change of the state, over all connections.
        var number: UInt64
        /// Nil if the sender has not signed in.
        var user: ConnectionUser?
        var isInUse = false

        /// The class in the order of closing. Nil if the connection is never closed.
        var rank: Int? {
            switch (user, isInUse) {
            case (nil, false): 0
            case (nil, true): 1
            case (_, false): 2
            case (.session?, true): 3
            case (.operator?, true): nil
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
            let id = ObjectIdentifier(channel)
            state.connections[id] = Connection(channel: channel, number: state.next())
            guard state.connections.count > limit else { return nil }
            let sessions = state.connections.filter { $0.value.user == .session }
            let others = state.connections.filter { $0.key != id && $0.value.rank != nil }
            let candidates = sessions.count > limit / 2 ? sessions : others
            let first = candidates.min { one, other in
                (one.value.rank ?? 0, one.value.number) < (other.value.rank ?? 0, other.value.number)
            }
            // It no longer counts, though its end may take a moment.
            return state.connections.removeValue(forKey: first?.key ?? id)?.channel
        }
        guard let excess else { return }
        logger.debug("closed a connection: more than \(limit) are open")
        excess.close(promise: nil)
    }

    func close(_ channel: any Channel) {
        state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
    }

    func set(_ channel: any Channel, user: ConnectionUser?, isInUse: Bool) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            // A connection that begins a request keeps its number, so that a request that does not end cannot renew it.
            guard let known = state.connections[id], (known.user, known.isInUse) != (user, isInUse) else {
                return
            }
            let number = state.next()
            state.connections[id]?.number = number
            state.connections[id]?.user = user
            state.connections[id]?.isInUse = isInUse
        }
    }
}
