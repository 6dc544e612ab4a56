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
        guard let address = UnixAddress(path) else { throw RuntimeDirectory.tooLong(path) }
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

    static func makeDescriptor(_ type: __socket_type) -> CInt {
        socket(AF_UNIX, CInt(type.rawValue) | O_NONBLOCK | O_CLOEXEC, 0)
    }
}
