internal import CZeroMQ
internal import Foundation
internal import Glibc

/// Reports failed handshakes of a socket's connections. Like the socket, it belongs to one thread.
package final class SocketMonitor {
    package enum Event: Hashable, Sendable {
        /// A peer has connected. Its IP address; nil over `ipc://`, or if it has left already.
        case accepted(String?)
        /// The ``Authenticator`` has refused the key: of a peer, or of this process.
        case keyRefused
        /// A handshake failed before any key was seen: the peers have different mechanisms, or the server has another
        /// key than expected.
        case mechanismRefused
    }

    private static let events =
        ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL

    private let events: Socket

    /// - Throws: ``ZeroMQError``
    package init(_ socket: Socket) throws {
        let endpoint = "inproc://monitor-\(UUID().uuidString)"
        try socket.reportEvents(Self.events, to: endpoint)
        events = try Socket(.pair, options: [.linger(0)])
        try events.connect(endpoint)
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
        case ZMQ_EVENT_ACCEPTED: return .accepted(address(of: value))
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .keyRefused
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .mechanismRefused
        default: return nil
        }
    }

    /// The IP address of the peer of a connection. The descriptor belongs to libzmq, which may have closed it, so the
    /// address can be that of a newer connection.
    private static func address(of descriptor: Int32) -> String? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                guard getpeername(descriptor, peer, &size) == 0,
                    [AF_INET, AF_INET6].contains(Int32(peer.pointee.sa_family))
                else { return nil }
                return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { host in
                    guard let start = host.baseAddress,
                        getnameinfo(peer, size, start, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
                    else { return nil }
                    return String(cString: start)
                }
            }
        }
    }
}
