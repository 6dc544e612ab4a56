import Foundation

/// Whoever started the supervisor and waits for it, by sd_notify: a ``DetachedSupervisor``, or systemd.
struct Launcher: Sendable {
    static let failureField = "X_SEGUE_ERROR"
    static let launchedField = "X_SEGUE_LAUNCHED"

    private let socket: String?

    init(environment: [String: String]) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    }

    func tellReady() {
        send("READY=1\nSTATUS=all services are up")
    }

    func tellLaunched() {
        send("\(Self.launchedField)=1")
    }

    func tell(status: String) {
        send("STATUS=\(status)")
    }

    /// A line of JSON, so that the launcher can show the very same error.
    func tell(failure: any Error) {
        let error = failure as? ComposeError ?? ComposeError(code: "supervisor", message: "\(failure)")
        let encoded = (try? JSONEncoder().encode(error)).map { String(decoding: $0, as: UTF8.self) }
        send("STOPPING=1\nSTATUS=\(error.message)" + (encoded.map { "\n\(Self.failureField)=\($0)" } ?? ""))
    }

    private func send(_ text: String) {
        if let socket { NotifySocket.send(text, to: socket) }
    }
}
