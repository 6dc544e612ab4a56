internal import BusAccess
internal import BusKeys
internal import EventBus
internal import Foundation
internal import Glibc
internal import Synchronization
internal import ZeroMQ

/// The keys of a broker: its own, and those that it accepts at the moment, with the rights of their owners.
///
/// The thread of the ``Authenticator`` asks about each new connection; the broker changes the accepted keys. A message's
/// user is the text of the sender's public key.
final class BrokerKeys: Sendable {
    /// The domain of the broker's ingress.
    let domain = "segue-\(UUID().uuidString)"
    /// The domain of the broker's feed.
    var feedDomain: String { "\(domain)-feed" }
    let own: KeyFile
    private let folder: KeyFolder
    private let state: Mutex<State>

    private struct State {
        /// The keys of the folder's list.
        var known: KnownKeys
        /// The folder's access file; nil if there is none.
        var access: Access?
        /// The files that were read; nil if the last attempt has failed.
        var version: Version?
        /// The error of the last attempt; nil if it has succeeded.
        var failure: BusError?
        /// The time from which the users may be others than those of the last ``BrokerKeys/nextUsers(at:)``: the first
        /// end of a key. Nil if the list has changed since.
        var nextChange: Date?
        var refusals = RefusedConnections()
        var handshakes = HandshakeRates()
        /// The users that may not connect to the feed: they have subscribed to what they may not receive.
        var excluded: Set<String> = []
    }

    private struct Version: Equatable {
        let list: FileVersion?
        let access: FileVersion?

        init(_ folder: KeyFolder) {
            list = FileVersion(folder.list)
            access = FileVersion("\(folder.path)/\(KeyFolder.accessName)")
        }
    }

    /// - Throws: ``BusError`` with code `key` if the folder cannot be used.
    init(_ folder: KeyFolder) throws(BusError) {
        self.folder = folder
        own = try folder.broker()
        let version = Version(folder)
        state = Mutex(State(known: try folder.known(), access: try folder.access(), version: version))
    }

    var path: String { folder.path }

    /// Reads the list of keys and the access file anew if one of them is another file or has changed, or if the last
    /// attempt has failed. If one cannot be read, all keys and rights remain as they are.
    /// - Throws: ``BusError`` with code `key` if it cannot be read for another reason than the last time.
    func refresh() throws(BusError) {
        let version = Version(folder)
        guard state.withLock({ $0.version != version || version.list == nil }) else { return }
        do {
            let (known, access) = (try folder.known(), try folder.access())
            state.withLock { state in
                (state.known, state.access, state.version, state.failure) = (known, access, version, nil)
                state.nextChange = nil
                state.excluded = []
            }
        } catch {
            let isNew = state.withLock { state in
                defer { (state.version, state.failure) = (nil, error) }
                return state.failure != error
            }
            if isNew { throw error }
        }
    }

    /// The users whose keys are accepted at a time, with their rights. Nil if they are those of the last call.
    func nextUsers(at time: Date) -> [String: Rights]? {
        state.withLock { state in
            if let nextChange = state.nextChange, time < nextChange { return nil }
            let valid = state.known.list.filter { $0.isValid(at: time) }
            state.nextChange = valid.compactMap(\.until).min() ?? .distantFuture
            return Dictionary(
                valid.map { ($0.publicKey.description, Rights(of: $0, in: state.access)) }
            ) { first, _ in first }
        }
    }

    /// Decides about a peer of the ingress, or of the feed.
    func decide(about peer: Authenticator.Peer, ofFeed: Bool = false) -> Authenticator.Decision {
        guard let key = CurveKey(peer.publicKey) else { return .refused }
        return state.withLock { state in
            guard let known = state.known.key(key, at: Date()) else {
                state.refusals.record("the key \(key) is unknown, revoked or expired", from: peer.address)
                return .refused
            }
            let user = key.description
            if ofFeed, state.excluded.contains(user) { return .refused }
            // Local peers are processes of the broker's own user, and each command of an operator connects anew.
            guard peer.address.isEmpty || known.role == .operator || state.handshakes.admit(user, at: .now) else {
                state.refusals.record("the key \(user) connects too often", from: peer.address)
                return .later
            }
            return .accepted(user: user)
        }
    }

    /// Excludes users from the feed until the keys or the rights change. libzmq cannot take a subscription from a peer.
    func excludeFromFeed(_ users: Set<String>) {
        state.withLock { $0.excluded.formUnion(users) }
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

/// The identity and the last change of a file, also of its mode.
private struct FileVersion: Equatable {
    private let device: UInt
    private let inode: UInt
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil if there is no such file.
    init?(_ path: String) {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        (device, inode) = (UInt(info.st_dev), UInt(info.st_ino))
        (seconds, nanoseconds) = (info.st_ctim.tv_sec, info.st_ctim.tv_nsec)
    }
}
