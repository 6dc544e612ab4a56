import Glibc

/// Where a supervisor takes requests, in a folder that only its user can enter.
final class ControlSocket: Sendable {
    private let path: String
    private let descriptor: CInt

    /// - Throws: ``ComposeError`` `control-socket`.
    init(path: String) throws(ComposeError) {
        guard let address = UnixAddress(path) else { throw RuntimeDirectory.tooLong(path) }
        self.path = path
        descriptor = StreamSocket.makeDescriptor()
        unlink(path)
        let descriptor = self.descriptor
        guard descriptor >= 0, address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0
        else {
            let reason = String(cString: strerror(errno))
            throw ComposeError(code: "control-socket", message: "cannot make the socket \(path): \(reason)")
        }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            unlink(path)
        }
    }

    /// The next connection's descriptor, which the caller has to close; `nil` when the task is cancelled.
    func accept() async -> CInt? {
        while !Task.isCancelled {
            // With its flags at once: a service may be forked at any moment, and would inherit it.
            let connection = GNUCalls.accept?(descriptor, nil, nil, CInt(SOCK_NONBLOCK.rawValue) | O_CLOEXEC) ?? -1
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
}
