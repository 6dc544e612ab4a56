internal import CZeroMQ
internal import Foundation
internal import Glibc

/// Receives the events of a socket's connections.
///
/// It belongs to the thread that creates it, or to one other thread that it is given to.
package final class SocketMonitor {
    package enum Event: Hashable, Sendable {
        /// A peer has connected.
        case accepted(AcceptedConnection)
        /// A connection has ended, of which this was the descriptor.
        case disconnected(Int32)
        /// The handshake of a connection of this process has succeeded, or that of a peer.
        case connected
        /// The ``Authenticator`` has refused the key: of a peer, or of this process.
        case keyRefused
        /// A handshake failed before any key was seen: the peers have different mechanisms, or the server has another
        /// key than expected.
        case mechanismRefused
    }

    /// The number of events of one socket that can wait, if the limit of the receiving side is 1: libzmq gives the
    /// sending side a limit of 1000.
    package static let capacity = 1001

    private static let events =
        ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL

    private let endpoint = "inproc://monitor-\(UUID().uuidString)"
    private let events: Socket

    /// - Parameter isBounded: True if libzmq's thread, which also accepts connections, waits while ``capacity`` events
    ///   wait. The thread of the monitored socket must not be the one that receives the events then: it would wait for
    ///   itself when it closes the socket.
    /// - Throws: ``ZeroMQError``
    package init(isBounded: Bool = false) throws {
        events = try Socket(.pair, options: [.linger(0), .receiveHighWaterMark(isBounded ? 1 : 0)])
        // Before the socket reports: an event without a receiver would stop libzmq's thread.
        try events.connect(endpoint)
    }

    /// Begins to receive the events of a socket. Call this once, on the thread of the socket, before it binds or
    /// connects.
    package func receiveEvents(of socket: Socket) throws {
        try socket.reportEvents(Self.events, to: endpoint, receiver: events)
    }

    package func watch(_ onEvent: @escaping (Event) -> Void) -> SocketWatch {
        SocketWatch(events) { [events] in
            while let frames = try? events.receive(), let frame = frames.first {
                if let event = Self.event(frame) { onEvent(event) }
            }
        }
    }

    /// - Parameter frame: The number of the event (16 bits) and its value (32 bits), in the byte order of the machine.
    private static func event(_ frame: [UInt8]) -> Event? {
        guard frame.count >= 6 else { return nil }
        let (number, value) = frame.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt16.self), $0.loadUnaligned(fromByteOffset: 2, as: Int32.self))
        }
        switch Int32(number) {
        case ZMQ_EVENT_ACCEPTED: return .accepted(AcceptedConnection(descriptor: value))
        case ZMQ_EVENT_DISCONNECTED: return .disconnected(value)
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .connected
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .keyRefused
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .mechanismRefused
        default: return nil
        }
    }
}

/// A connection that libzmq has accepted. The descriptor belongs to libzmq, which may close it at any time, so it can be
/// that of a newer connection.
package struct AcceptedConnection: Hashable, Sendable {
    package let descriptor: Int32
    /// The peer's address and port, as the system gives them. Nil if the peer has left already.
    private let peer: [UInt8]?

    /// The connection that has the descriptor at present.
    package init(descriptor: Int32) {
        self.init(descriptor: descriptor, peer: Self.peer(of: descriptor))
    }

    /// - Parameter peer: The peer's `sockaddr`.
    package init(descriptor: Int32, peer: [UInt8]?) {
        (self.descriptor, self.peer) = (descriptor, peer)
    }

    /// True for a TCP connection; false over `ipc://`, or if the peer has left already.
    package var isRemote: Bool { !host.isEmpty }

    /// The number of bytes that have come over a TCP connection, as the kernel counts them. Nil if the descriptor has
    /// another peer now.
    package var receivedSize: UInt64? {
        guard let peer, Self.peer(of: descriptor) == peer else { return nil }
        // `struct tcp_info` of linux/tcp.h; that of glibc ends before `tcpi_bytes_received`.
        let (offset, end) = (128, 136)
        var information = [UInt8](repeating: 0, count: end)
        var size = socklen_t(end)
        guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &information, &size) == 0, size >= end else {
            return nil
        }
        return information.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    /// The number of bytes that were written to a connection and that its peer has not acknowledged.
    package static func unreadSize(of descriptor: Int32) -> Int {
        var size: CInt = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &size) == 0 ? Int(size) : 0
    }

    /// The peer's IP address; nil over `ipc://`, or if the peer has left already.
    package var address: String? { peer.flatMap(Self.address) }

    /// The bytes of the peer's IP address, to compare addresses. Empty if there is none.
    package var host: ArraySlice<UInt8> {
        switch peer?.count {
        case MemoryLayout<sockaddr_in>.size: peer?[4..<8] ?? []
        case MemoryLayout<sockaddr_in6>.size: peer?[8..<24] ?? []
        default: []
        }
    }

    /// Ends the connection. libzmq then closes the descriptor. Does nothing if the descriptor has another peer now.
    package func end() {
        guard let peer, Self.peer(of: descriptor) == peer else { return }
        // The peer is told at once. Otherwise one that cannot send at the moment waits for a minute, and the kernel keeps
        // the connection as long.
        var abort = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, CInt(SHUT_RDWR))
    }

    private static func peer(of descriptor: Int32) -> [UInt8]? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                guard getpeername(descriptor, peer, &size) == 0 else { return nil }
                return Array(UnsafeRawBufferPointer(start: pointer, count: Int(size)))
            }
        }
    }

    private static func address(_ peer: [UInt8]) -> String? {
        peer.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                bytes.count >= MemoryLayout<sockaddr>.size,
                [AF_INET, AF_INET6].contains(Int32(start.pointee.sa_family))
            else { return nil }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { host in
                guard let name = host.baseAddress,
                    getnameinfo(
                        start, socklen_t(bytes.count), name, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
                else { return nil }
                return String(cString: name)
            }
        }
    }
}
