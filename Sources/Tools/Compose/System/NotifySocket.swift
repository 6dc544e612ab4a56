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

/// One datagram of sd_notify: lines of `NAME=value`; unknown names are passed over, as sd_notify(3) asks.
package struct NotifyMessage: Sendable, Equatable {
    package private(set) var isReady = false
    private(set) var isStopping = false
    private(set) var status: String?
    /// `WATCHDOG=1`: the service lives.
    private(set) var isHeartbeat = false
    /// `WATCHDOG=trigger`: it has found that it hangs.
    private(set) var isWatchdogTriggered = false
    /// `EXTEND_TIMEOUT_USEC`: from now on it wants so long to become ready.
    private(set) var startExtension: Duration?
    /// Names that begin with `X_`, which sd_notify leaves to its users.
    private(set) var extensions: [String: String] = [:]

    init(_ datagram: [UInt8]) {
        for line in String(decoding: datagram, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            switch (parts[0], parts[1]) {
            case ("READY", "1"): isReady = true
            case ("STOPPING", "1"): isStopping = true
            case ("STATUS", let text): status = String(text)
            case ("WATCHDOG", "1"): isHeartbeat = true
            case ("WATCHDOG", "trigger"): isWatchdogTriggered = true
            case ("EXTEND_TIMEOUT_USEC", let text): startExtension = Int64(text).flatMap(Self.startExtension)
            case (let name, let value) where name.hasPrefix("X_"): extensions[String(name)] = String(value)
            default: break
            }
        }
    }

    /// At most a day: no clock can be asked to wait for whatever a number may say.
    private static func startExtension(_ microseconds: Int64) -> Duration? {
        microseconds > 0 ? min(.microseconds(microseconds), .seconds(86_400)) : nil
    }
}
