package import Foundation
import Glibc

/// The address of a Unix socket (unix(7)). A leading `@` means the abstract namespace, as in `$NOTIFY_SOCKET`.
package struct UnixAddress {
    /// The maximum length of a path in bytes: `sockaddr_un.sun_path` without its terminating zero.
    package static let longestPath = 107

    private var address = sockaddr_un()
    private let length: socklen_t

    /// Nil if the path is empty or longer than ``longestPath``, or is only `@`.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath else { return nil }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        guard !isAbstract || bytes.count > 1 else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if isAbstract { target[0] = 0 }
        }
        // A path ends with a zero byte; an abstract name does not.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// A Unix socket that is bound to a path as long as this value exists.
package struct UnixSocket: ~Copyable {
    package enum Kind: Sendable {
        case datagram
        /// A listening socket.
        case stream
    }

    package let path: String
    let descriptor: CInt

    /// - Parameter path: A path in a folder that only this user can enter. A file that exists at this path is removed.
    /// - Throws: ``SystemError``, with code `ENAMETOOLONG` if the path is not a valid address.
    package init(_ kind: Kind, boundTo path: String) throws(SystemError) {
        guard let address = UnixAddress(path) else { throw SystemError(path, code: ENAMETOOLONG) }
        let descriptor = Self.descriptor(kind)
        unlink(path)
        guard descriptor >= 0, address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0,
            kind == .datagram || listen(descriptor, 64) == 0
        else {
            let error = SystemError(path)
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next connection to a listening socket; nil if the task is cancelled.
    package func accept() async -> UnixStream? {
        while !Task.isCancelled {
            // The flags are set in the same call, because a child that is forked between two calls would inherit the
            // descriptor.
            let flags = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let connection = Self.acceptWithFlags?(descriptor, nil, nil, flags) ?? -1
            if connection >= 0 { return UnixStream(owning: connection) }
            if errno == EMFILE || errno == ENFILE {
                // Nothing signals that a descriptor is free again.
                try? await Task.sleep(for: .milliseconds(100))
            } else {
                await DescriptorReadiness.waitForInput(descriptor)
            }
        }
        return nil
    }

    /// Creates a non-blocking descriptor; -1 if this fails, with the reason in `errno`.
    static func descriptor(_ kind: Kind) -> CInt {
        let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
        return socket(AF_UNIX, CInt(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private typealias AcceptWithFlags =
        @convention(c) (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, CInt) -> CInt

    /// accept4(2), which Swift's Glibc module does not import.
    private static let acceptWithFlags = dlsym(nil, "accept4").map { unsafeBitCast($0, to: AcceptWithFlags.self) }
}

/// A connected Unix stream that never blocks a thread.
package final class UnixStream: Sendable {
    private let descriptor: CInt

    /// - Parameter descriptor: A non-blocking descriptor. It is closed with this object.
    fileprivate init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Connects to a listening socket. Nil if this fails, for example because no process listens at the path.
    package static func connect(to path: String) -> UnixStream? {
        guard let address = UnixAddress(path) else { return nil }
        let descriptor = UnixSocket.descriptor(.stream)
        guard descriptor >= 0 else { return nil }
        let stream = UnixStream(owning: descriptor)
        guard address.withSocketAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return nil }
        return stream
    }

    /// True if the process at the other end belongs to this user or to root.
    package var isOwnUsers: Bool {
        var credentials = (pid: pid_t(0), user: uid_t(0), group: gid_t(0))
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return false }
        return credentials.user == geteuid() || credentials.user == 0
    }

    /// Reads everything that the other end writes until it shuts down its direction.
    /// - Parameter limit: The maximum size of the data in bytes.
    /// - Returns: Nil if the data is longer than the limit, the connection breaks, or the task is cancelled.
    package func readAll(limit: Int) async -> Data? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !Task.isCancelled {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return data }
            if count > 0 { data.append(contentsOf: buffer[..<count]) }
            guard data.count <= limit, count > 0 || errno == EAGAIN || errno == EINTR else { return nil }
            if count < 0 { await DescriptorReadiness.waitForInput(descriptor) }
        }
        return nil
    }

    /// Writes all of `data`, then shuts down this direction. Returns early if the other end has closed the connection
    /// or the task is cancelled.
    package func writeAll(_ data: Data) async {
        var rest = Array(data)[...]
        while !rest.isEmpty, !Task.isCancelled {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { return }
            if count < 0 { await DescriptorReadiness.waitForRoom(descriptor) }
            rest = rest.dropFirst(max(0, count))
        }
        shutdown(descriptor, CInt(SHUT_WR))
    }
}
