internal import BusKeys
internal import EventBus
internal import Foundation
internal import Synchronization
internal import ZeroMQ

/// The keys of a broker: its own, and those that it accepts at the moment.
///
/// The thread of the ``Authenticator`` asks about each new connection; the broker changes the accepted keys. A message's
/// user is the text of the sender's public key.
final class BrokerKeys: Sendable {
    /// The domain of the broker's sockets.
    let domain = "segue-\(UUID().uuidString)"
    let own: KeyFile
    private let folder: KeyFolder
    private let state: Mutex<State>

    private struct State {
        /// The keys of the folder's list.
        var known: KnownKeys
        var refusals = RefusedConnections()
    }

    /// - Throws: ``BusError`` with code `key` if the folder cannot be used.
    init(_ folder: KeyFolder) throws(BusError) {
        self.folder = folder
        own = try folder.broker()
        state = Mutex(State(known: try folder.known()))
    }

    var path: String { folder.path }

    /// Reads the list of keys anew. If it cannot be read, the keys remain as they are.
    /// - Throws: ``BusError`` with code `key`
    func refresh() throws(BusError) {
        let known = try folder.known()
        state.withLock { $0.known = known }
    }

    /// The users whose keys are accepted at a time.
    func users(at time: Date) -> Set<String> {
        let known = state.withLock { $0.known }
        return Set(known.list.filter { $0.isValid(at: time) }.map(\.publicKey.description))
    }

    /// The user of a peer. Nil if its key is not accepted.
    func user(of peer: Authenticator.Peer) -> String? {
        guard let key = CurveKey(peer.publicKey) else { return nil }
        return state.withLock { state in
            guard state.known.key(key, at: Date()) != nil else {
                state.refusals.record("the key \(key) is unknown, revoked or expired", from: peer.address)
                return nil
            }
            return key.description
        }
    }

    /// Counts a connection without a key.
    func refuseMechanism(from address: String) {
        state.withLock {
            $0.refusals.record("the peer does not use CURVE, or another key of the broker", from: address)
        }
    }

    /// The refused connections since the last call.
    func drainRefusals() -> RefusedConnections {
        state.withLock { state in
            defer { state.refusals = RefusedConnections() }
            return state.refusals
        }
    }
}

/// Connections that were refused because their peers have no key that is accepted.
struct RefusedConnections {
    private(set) var count = 0
    /// The address of the last one, or `ipc` if it has none.
    private(set) var address = ""
    private(set) var reason = ""

    mutating func record(_ reason: String, from address: String) {
        count += 1
        (self.reason, self.address) = (reason, address.isEmpty ? "ipc" : address)
    }
}
