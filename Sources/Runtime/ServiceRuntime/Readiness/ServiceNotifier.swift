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
    let socketPath: String?

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
