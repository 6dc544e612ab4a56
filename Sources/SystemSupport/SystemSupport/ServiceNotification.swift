import Foundation
import Glibc

/// One datagram of sd_notify(3): what a service says of itself to its supervisor.
package struct NotifyMessage: Sendable, Equatable {
    /// `READY=1`.
    package var isReady = false
    /// `STOPPING=1`.
    package var isStopping = false
    /// `STATUS`: one line for people.
    package var status: String?
    /// `WATCHDOG=1`: the service lives.
    package var isHeartbeat = false
    /// `WATCHDOG=trigger`: the service has found that it hangs.
    package var isWatchdogTriggered = false
    /// `EXTEND_TIMEOUT_USEC`: from now on the service wants so long to become ready.
    package var startExtension: Duration?
    /// The fields whose names begin with `X_`, which sd_notify leaves to its users.
    package var extensions: [String: String] = [:]

    package static let ready = NotifyMessage(isReady: true)
    package static let stopping = NotifyMessage(isStopping: true)
    package static let alive = NotifyMessage(isHeartbeat: true)

    package init(
        isReady: Bool = false, isStopping: Bool = false, status: String? = nil, isHeartbeat: Bool = false,
        extensions: [String: String] = [:]
    ) {
        self.isReady = isReady
        self.isStopping = isStopping
        self.status = status
        self.isHeartbeat = isHeartbeat
        self.extensions = extensions
    }

    /// - Parameter datagram: lines of `NAME=value`; unknown names are passed over, as sd_notify(3) asks.
    package init(_ datagram: [UInt8]) {
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

    /// The datagram.
    var text: String {
        var fields: [(name: String, value: String)] = []
        if isReady { fields.append(("READY", "1")) }
        if isStopping { fields.append(("STOPPING", "1")) }
        if isHeartbeat { fields.append(("WATCHDOG", "1")) }
        if isWatchdogTriggered { fields.append(("WATCHDOG", "trigger")) }
        if let startExtension {
            fields.append(("EXTEND_TIMEOUT_USEC", "\(Int64(startExtension / .microseconds(1)))"))
        }
        if let status { fields.append(("STATUS", status)) }
        fields += extensions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return fields.map { "\($0.name)=\($0.value.split(whereSeparator: \.isNewline).joined(separator: " "))" }
            .joined(separator: "\n")
    }
}

/// Where a service sends what it says of itself.
///
/// Notifying is best effort, as the manual asks: a supervisor that has gone or does not listen must not stop a service.
package struct Notifier: Sendable {
    /// A path, or `@name` for a socket in Linux's abstract namespace; nil when nobody wants to know.
    package let socketPath: String?

    /// - Parameter socketPath: the one that this process's supervisor has named, unless said.
    package init(socketPath: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        self.socketPath = socketPath
    }

    /// - Parameter patience: how long a supervisor whose queue is full may hold up this thread; after that, it misses the
    ///   message. Whole milliseconds.
    package func notify(_ message: NotifyMessage, patience: Duration = .zero) {
        guard let address = socketPath.flatMap(UnixAddress.init) else { return }
        let descriptor = UnixSocket.descriptor(.datagram)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else { return }
        if patience > .zero {
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&room, 1, CInt(clamping: Int64(patience / .milliseconds(1))))
        }
        let bytes = Array(message.text.utf8)
        send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
}

/// Where one run of one service sends its notifications: the supervisor's end.
///
/// Every run gets a socket of its own in a folder that only this user can enter: what arrives is that service's word, and
/// nothing that an earlier run sent late is taken for the present one's.
package final class NotifySocket: Sendable {
    private let socket: UnixSocket

    /// The value of the service's `NOTIFY_SOCKET`.
    package var path: String { socket.path }

    /// - Throws: as ``UnixSocket``.
    package init(path: String) throws(SystemError) {
        socket = try UnixSocket(.datagram, boundTo: path)
    }

    /// The next message; nil when the task is cancelled.
    package func next() async -> NotifyMessage? {
        while !Task.isCancelled {
            if let message = receive() { return message }
            await DescriptorReadiness.waitForInput(socket.descriptor)
        }
        return nil
    }

    /// What has already arrived, if anything.
    package func receive() -> NotifyMessage? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        return count > 0 ? NotifyMessage(Array(buffer[..<count])) : nil
    }

    /// Returns when something may have arrived, at the given time, or when the task is cancelled.
    package func wait(until deadline: SuspendingClock.Instant?) async {
        await withTaskGroup { group in
            group.addTask { await DescriptorReadiness.waitForInput(self.socket.descriptor) }
            if let deadline {
                group.addTask { try? await Task.sleep(until: deadline, clock: .suspending) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
