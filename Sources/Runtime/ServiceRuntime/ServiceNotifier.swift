internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The notification protocol of systemd (sd_notify(3)): one datagram to the socket that the supervisor names.
///
/// Notifying is best effort, as the manual asks: a supervisor that does not listen must not stop a service.
struct ServiceNotifier: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// A path, or `@name` for a socket in Linux's abstract namespace; nil if nobody wants to know.
    private let socketPath: String?

    init(socketPath: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        self.socketPath = socketPath
    }

    func notify(_ state: State) {
        guard let socketPath, let address = SocketAddress(path: socketPath) else { return }
        // Non-blocking: a supervisor whose queue is full loses the notification, the service goes on.
        let socket = Self.makeSocket()
        guard socket >= 0 else { return }
        defer { close(socket) }
        address.withSockaddr { sockaddr, length in
            _ = sendto(socket, state.rawValue, state.rawValue.utf8.count, Self.flags, sockaddr, length)
        }
    }

    #if canImport(Glibc)
    private static let flags = Int32(MSG_NOSIGNAL)

    private static func makeSocket() -> Int32 {
        socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    #else
    private static let flags: Int32 = MSG_DONTWAIT

    private static func makeSocket() -> Int32 {
        socket(AF_UNIX, SOCK_DGRAM, 0)
    }
    #endif
}

/// The address of a Unix socket (unix(7)).
struct SocketAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Returns: nil if the path is empty, or too long for a socket's address.
    init?(path: String) {
        var bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        let capacity = MemoryLayout<sockaddr_un>.size - offset
        // A path ends with a null byte; an abstract name begins with one, and its length is exactly what is given.
        guard bytes.count > 1, bytes.count < capacity else { return nil }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        length = socklen_t(offset + bytes.count)
    }

    func withSockaddr(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
