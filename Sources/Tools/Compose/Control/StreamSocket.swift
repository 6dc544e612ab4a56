import Foundation
import Glibc

/// A connected Unix stream that never blocks a thread: one message goes each way, ended by the end of the stream.
struct StreamSocket: ~Copyable {
    private let descriptor: CInt

    /// - Parameter descriptor: not blocking; it is closed with this value.
    init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// - Returns: `nil` when nobody listens there.
    static func connect(to path: String) -> StreamSocket? {
        guard let address = UnixAddress(path) else { return nil }
        let socket = StreamSocket(owning: UnixSocket.makeDescriptor(SOCK_STREAM))
        let descriptor = socket.descriptor
        guard address.withSocketAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return nil }
        return socket
    }

    /// Whether the process at the other end is this user's, or root's. The folder's mode says so too, unless it was
    /// opened to others after it was made.
    var isOwnUsers: Bool {
        var credentials = (pid: pid_t(0), user: uid_t(0), group: gid_t(0))
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return false }
        return credentials.user == geteuid() || credentials.user == 0
    }

    /// Everything that the other end writes.
    ///
    /// - Returns: `nil` when it is longer than the limit, the connection breaks, or the task is cancelled.
    func readAll(limit: Int) async -> Data? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !Task.isCancelled {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return data }
            if count > 0 { data.append(contentsOf: buffer[..<count]) }
            guard data.count <= limit, count > 0 || errno == EAGAIN || errno == EINTR else { return nil }
            if count < 0 { await Readability.wait(for: descriptor) }
        }
        return nil
    }

    /// Writes everything and ends the stream; gives up when the other end is gone, or the task is cancelled.
    func writeAll(_ data: Data) async {
        var rest = Array(data)[...]
        while !rest.isEmpty, !Task.isCancelled {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { return }
            if count < 0 { await Readability.waitForRoom(in: descriptor) }
            rest = rest.dropFirst(max(0, count))
        }
        shutdown(descriptor, CInt(SHUT_WR))
    }
}
