package import Foundation
import Glibc

/// The address of a Unix socket (unix(7)); a leading `@` stands for the abstract namespace, as in `$NOTIFY_SOCKET`.
package struct UnixAddress {
    /// Bytes that fit beside the terminating zero in `sockaddr_un.sun_path`.
    package static let longestPath = 107

    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Returns: nil when the path is empty or longer than ``longestPath``.
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
        // A path ends with a zero; an abstract name is exactly as long as it is given.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// A Unix socket that is bound to a path for as long as this value lives.
package struct UnixSocket: ~Copyable {
    package enum Kind: Sendable {
        case datagram
        /// It listens.
        case stream
    }

    package let path: String
    let descriptor: CInt

    /// - Parameter path: in a folder that only this user can enter: what is there was left by an earlier process, and is
    ///   removed.
    /// - Throws: ``SystemError``, with code `ENAMETOOLONG` when the path is no address.
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

    /// The next connection to a listening socket; nil when the task is cancelled.
    package func accept() async -> UnixStream? {
        while !Task.isCancelled {
            // With its flags at once: a child may be forked at any moment, and would inherit it.
            let flags = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let connection = Self.acceptWithFlags?(descriptor, nil, nil, flags) ?? -1
            if connection >= 0 { return UnixStream(owning: connection) }
            if errno == EMFILE || errno == ENFILE {
                // Nothing tells when a descriptor is free again.
                try? await Task.sleep(for: .milliseconds(100))
            } else {
                await DescriptorReadiness.waitForInput(descriptor)
            }
        }
        return nil
    }

    /// A descriptor that never blocks; -1 when there is none left.
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

    /// - Parameter descriptor: not blocking; it is closed with this object.
    fileprivate init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// - Returns: nil when nobody listens there.
    package static func connect(to path: String) -> UnixStream? {
        guard let address = UnixAddress(path) else { return nil }
        let descriptor = UnixSocket.descriptor(.stream)
        guard descriptor >= 0 else { return nil }
        let stream = UnixStream(owning: descriptor)
        guard address.withSocketAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return nil }
        return stream
    }

    /// Whether the process at the other end is this user's, or root's. The mode of the socket's folder says so too, unless it
    /// was opened to others after it was made.
    package var isOwnUsers: Bool {
        var credentials = (pid: pid_t(0), user: uid_t(0), group: gid_t(0))
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return false }
        return credentials.user == geteuid() || credentials.user == 0
    }

    /// Everything that the other end writes until it ends its direction.
    /// - Returns: nil when it is longer than the limit, the connection breaks, or the task is cancelled.
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

    /// Writes everything and ends this direction; gives up when the other end is gone, or the task is cancelled.
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
