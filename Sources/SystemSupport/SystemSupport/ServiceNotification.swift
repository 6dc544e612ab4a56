import Foundation
import Glibc
import Support

/// One datagram of sd_notify(3): a status message of a service to its supervisor.
package struct NotifyMessage: Sendable, Equatable {
    /// `READY=1`.
    package var isReady = false
    /// `STOPPING=1`.
    package var isStopping = false
    /// `STATUS`: one line of text for people.
    package var status: String?
    /// `WATCHDOG=1`: the service is alive.
    package var isHeartbeat = false
    /// `WATCHDOG=trigger`: the service has found that it hangs.
    package var isWatchdogTriggered = false
    /// `EXTEND_TIMEOUT_USEC`: the service needs this much time, from now on, to become ready.
    package var startExtension: Duration?
    /// The fields whose names begin with `X_`.
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

    /// Reads a datagram.
    /// - Parameter datagram: Lines of `NAME=value`. Unknown names are ignored.
    package init(_ datagram: [UInt8]) {
        for line in datagram.lines {
            guard let field = String(decoding: line, as: UTF8.self).cut(at: "=") else { continue }
            switch field {
            case ("READY", "1"): isReady = true
            case ("STOPPING", "1"): isStopping = true
            case ("STATUS", let text): status = String(text)
            case ("WATCHDOG", "1"): isHeartbeat = true
            case ("WATCHDOG", "trigger"): isWatchdogTriggered = true
            case ("EXTEND_TIMEOUT_USEC", let text): startExtension = Int64(text).flatMap(Self.startExtension)
            case (let name, let value) where name.begins(with: "X_"): extensions[String(name)] = String(value)
            default: break
            }
        }
    }

    /// The duration, at most one day: a longer one is shortened. Nil unless the number is positive.
    private static func startExtension(_ microseconds: Int64) -> Duration? {
        microseconds > 0 ? min(.microseconds(microseconds), .seconds(86_400)) : nil
    }

    /// The content of the datagram.
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
        return fields.map { "\($0.name)=\($0.value.onOneLine)" }
            .joined(separator: "\n")
    }
}

/// Sends the notifications of a service to its supervisor.
///
/// A notification is dropped if the supervisor has ended or does not read.
package struct Notifier: Sendable {
    /// A path, or `@name` for a socket in Linux's abstract namespace. Nil if no supervisor has asked for notifications.
    package let socketPath: String?

    /// - Parameter socketPath: By default the value of `NOTIFY_SOCKET`, which the supervisor of this process sets.
    package init(socketPath: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        self.socketPath = socketPath
    }

    /// Sends a message, or drops it if this is impossible.
    /// - Parameter patience: The maximum time that this call may block while the supervisor's queue is full, in whole
    ///   milliseconds. After that the message is dropped.
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

/// The supervisor's end of the notifications of one run of a service.
package final class NotifySocket: Sendable {
    private let socket: UnixSocket

    /// The value of the service's `NOTIFY_SOCKET`.
    package var path: String { socket.path }

    /// - Throws: The errors of ``UnixSocket``.
    package init(path: String) throws(SystemError) {
        socket = try UnixSocket(.datagram, boundTo: path)
    }

    /// The next message; nil if the task is cancelled.
    package func next() async -> NotifyMessage? {
        while !Task.isCancelled {
            if let message = receive() { return message }
            await DescriptorReadiness.waitForInput(socket.descriptor)
        }
        return nil
    }

    /// A message that has already arrived; nil if there is none.
    package func receive() -> NotifyMessage? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        return count > 0 ? NotifyMessage(Array(buffer[..<count])) : nil
    }

    /// Returns when a message may have arrived, when the deadline has passed, or when the task is cancelled. If
    /// `deadline` is nil, there is no deadline.
    package func wait(until deadline: SuspendingClock.Instant?) async {
        guard let deadline else { return await DescriptorReadiness.waitForInput(socket.descriptor) }
        _ = try? await withTimeLimit(SuspendingClock.now.duration(to: deadline), clock: SuspendingClock()) {
            await DescriptorReadiness.waitForInput(self.socket.descriptor)
        }
    }
}
