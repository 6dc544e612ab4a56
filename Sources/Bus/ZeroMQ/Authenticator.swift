internal import SystemSupport

/// The handler of the authentication requests of all sockets of the process (ZAP, ZeroMQ RFC 27).
///
/// libzmq asks it about each connection to a socket with ``SocketOption/curveServer(secretKey:domain:)``, after the
/// handshake has shown that the peer has the secret key. A connection about which nobody decides is refused.
///
/// There is one handler for each context, and so one for the process: libzmq connects to a fixed endpoint. Like the
/// context, its thread runs until the process ends.
package actor Authenticator {
    package static let shared = Authenticator()

    /// A peer that asks to connect.
    package struct Peer: Sendable {
        /// The peer's IP address; empty over `ipc://`.
        package let address: String
        /// 32 bytes.
        package let publicKey: [UInt8]
    }

    package enum Decision: Hashable, Sendable {
        /// The peer is accepted. ``Socket/receive(frameLimit:reading:)`` marks its messages with the name of the user.
        case accepted(user: String)
        case refused
        /// The connection ends without a reason, and libzmq connects again: to slow down a peer.
        case later
    }

    /// Called on the thread of the handler.
    package typealias Decide = @Sendable (Peer) -> Decision

    private let thread = ExecutorThread(name: "zap")
    private var socket: Socket?
    private var decisions: [String: Decide] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Registers a decision. Call this before a socket with the domain is bound.
    /// - Parameter domain: A name that no other registration of the process has.
    /// - Throws: ``ZeroMQError`` if the handler cannot start.
    package func register(_ domain: String, _ decide: @escaping Decide) throws {
        if socket == nil {
            let socket = try Socket(.rep, options: [.linger(0)])
            try socket.bind("inproc://zeromq.zap.01")
            thread.add(SocketWatch(socket) { [weak self] in self?.assumeIsolated { $0.handleRequests() } })
            self.socket = socket
        }
        decisions[domain] = decide
    }

    package func unregister(_ domain: String) {
        decisions[domain] = nil
    }

    private func handleRequests() {
        guard let socket else { return }
        while let request = try? socket.receive() {
            // A reply cannot fail: libzmq itself is the peer, and waits for it.
            _ = try? socket.send(reply(to: request))
        }
    }

    /// - Parameter request: version, request id, domain, address, identity, mechanism, then the mechanism's credentials.
    private func reply(to request: [[UInt8]]) -> [[UInt8]] {
        let version = Array("1.0".utf8)
        guard request.count >= 6 else { return [version, [], Array("500".utf8), [], [], []] }
        let texts = request.map { String(decoding: $0, as: UTF8.self) }
        let decision: Decision =
            if request.count == 7, texts[0] == "1.0", texts[5] == "CURVE", let decide = decisions[texts[2]] {
                decide(Peer(address: texts[3], publicKey: request[6]))
            } else {
                .refused
            }
        let (status, reason, user) =
            switch decision {
            case .accepted(let user): ("200", "", user)
            case .later: ("300", "too many handshakes", "")
            case .refused: ("400", "the key is not accepted", "")
            }
        return [version, request[1], Array(status.utf8), Array(reason.utf8), Array(user.utf8), []]
    }
}
