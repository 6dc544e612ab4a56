import Glibc

/// Where one run of one service sends its readiness.
///
/// Every run gets a socket of its own in a folder that only this user can enter: what arrives is that service's word,
/// and nothing that an earlier run sent late is taken for the present one's.
package final class NotifySocket: Sendable {
    private let socket: UnixSocket

    package var path: String { socket.path }

    /// - Throws: as ``UnixSocket``.
    package init(path: String) throws(ComposeError) {
        socket = try UnixSocket(SOCK_DGRAM, boundTo: path)
    }

    /// The next message; `nil` when the task is cancelled.
    package func next() async -> NotifyMessage? {
        while !Task.isCancelled {
            if let message = receive() { return message }
            await Readability.wait(for: socket.descriptor)
        }
        return nil
    }

    /// Returns when something may have arrived, at the given time, or when the task is cancelled.
    func wait(until deadline: SuspendingClock.Instant?) async {
        await withTaskGroup { group in
            group.addTask { await Readability.wait(for: self.socket.descriptor) }
            if let deadline {
                group.addTask { try? await Task.sleep(until: deadline, clock: .suspending) }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// What has already arrived, if anything.
    func receive() -> NotifyMessage? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        return count > 0 ? NotifyMessage(Array(buffer[..<count])) : nil
    }

    /// Sends one message to another process's socket; silently nothing when that is gone, as sd_notify does.
    static func send(_ text: String, to path: String) {
        guard let address = UnixAddress(path) else { return }
        let descriptor = UnixSocket.makeDescriptor(SOCK_DGRAM)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A receiver that has stopped reading may hold us up, but not for good.
        guard address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else { return }
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, 1000)
        let bytes = Array(text.utf8)
        Glibc.send(descriptor, bytes, bytes.count, 0)
    }
}
