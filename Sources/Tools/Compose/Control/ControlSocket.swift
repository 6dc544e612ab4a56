import Glibc

/// Where a supervisor takes requests, in a folder that only its user can enter.
final class ControlSocket: Sendable {
    private let socket: UnixSocket

    /// - Throws: as ``UnixSocket``.
    init(path: String) throws(ComposeError) {
        socket = try UnixSocket(SOCK_STREAM, boundTo: path)
    }

    /// The next connection's descriptor, which the caller has to close; `nil` when the task is cancelled.
    func accept() async -> CInt? {
        while !Task.isCancelled {
            // With its flags at once: a service may be forked at any moment, and would inherit it.
            let connection =
                GNUCalls.accept?(socket.descriptor, nil, nil, CInt(SOCK_NONBLOCK.rawValue) | O_CLOEXEC) ?? -1
            if connection >= 0 { return connection }
            if errno == EMFILE || errno == ENFILE {
                // Nothing tells when a descriptor is free again.
                try? await Task.sleep(for: .milliseconds(100))
            } else {
                await Readability.wait(for: socket.descriptor)
            }
        }
        return nil
    }
}
