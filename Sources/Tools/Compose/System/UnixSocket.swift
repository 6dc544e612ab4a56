import Foundation
import Glibc

/// A Unix socket that is bound to a path for as long as this value lives.
struct UnixSocket: ~Copyable {
    let path: String
    /// Not blocking.
    let descriptor: CInt

    /// - Parameters:
    ///   - type: `SOCK_STREAM`, which then listens, or `SOCK_DGRAM`.
    ///   - path: in a folder that only this user can enter; what lies there is one that was left.
    /// - Throws: ``ComposeError`` `socket-path-too-long`, `socket`.
    init(_ type: __socket_type, boundTo path: String) throws(ComposeError) {
        guard let address = UnixAddress(path) else { throw Self.tooLong(path) }
        let descriptor = Self.makeDescriptor(type)
        unlink(path)
        guard descriptor >= 0, address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0,
            type != SOCK_STREAM || listen(descriptor, 64) == 0
        else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw ComposeError(code: "socket", message: "cannot make the socket \(path): \(reason)")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next connection's descriptor, which the caller has to close; `nil` when the task is cancelled.
    func accept() async -> CInt? {
        while !Task.isCancelled {
            // With its flags at once: a service may be forked at any moment, and would inherit it.
            let connection =
                Self.acceptWithFlags?(descriptor, nil, nil, CInt(SOCK_NONBLOCK.rawValue) | O_CLOEXEC) ?? -1
            if connection >= 0 { return connection }
            if errno == EMFILE || errno == ENFILE {
                // Nothing tells when a descriptor is free again.
                try? await Task.sleep(for: .milliseconds(100))
            } else {
                await Readability.wait(for: descriptor)
            }
        }
        return nil
    }

    static func makeDescriptor(_ type: __socket_type) -> CInt {
        socket(AF_UNIX, CInt(type.rawValue) | O_NONBLOCK | O_CLOEXEC, 0)
    }

    static func tooLong(_ path: String) -> ComposeError {
        ComposeError(
            code: "socket-path-too-long",
            message: "the socket path \(path) is longer than \(UnixAddress.longestPath) bytes",
            recovery: "use a shorter project name, or set XDG_RUNTIME_DIR to a shorter folder"
        )
    }

    private typealias AcceptWithFlags =
        @convention(c) (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, CInt) -> CInt

    /// accept4(2), which Swift's Glibc module does not import.
    private static let acceptWithFlags = dlsym(nil, "accept4").map { unsafeBitCast($0, to: AcceptWithFlags.self) }
}

/// The address of a Unix socket; a leading `@` stands for the abstract namespace, as in `$NOTIFY_SOCKET`.
struct UnixAddress {
    /// What fits beside the terminating zero in `sockaddr_un.sun_path`.
    static let longestPath = 107

    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Returns: `nil` when the path is empty or too long.
    init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if path.hasPrefix("@") { target[0] = 0 }
        }
        let terminator = path.hasPrefix("@") ? 0 : 1
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + terminator)
    }

    func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

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
