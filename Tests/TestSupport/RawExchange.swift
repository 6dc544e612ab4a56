internal import Foundation
internal import Glibc

/// A request of which a test sends the bytes itself.
package enum RawExchange {
    private struct NoPort: Error {}

    /// The answer if the server does not close the connection. It fails the test, and does not stop it.
    private static let open = "the connection remains open"

    /// Sends the text, and returns everything that the server sends before it closes the connection.
    /// - Parameters:
    ///   - text: the request. `{host}` stands for the server's own host and port.
    ///   - base: the URL of a server on this machine, which ends with the port.
    ///   - isDripping: true if one letter after the other follows the text, until the server closes the connection.
    package static func answer(
        to text: String, from base: String, isDripping: Bool = false
    ) async throws -> String {
        guard let port = UInt16(base.split(separator: ":").last ?? "") else { throw NoPort() }
        return await withCheckedContinuation { continuation in
            // Reading blocks, so it has a thread of its own.
            Thread.detachNewThread { continuation.resume(returning: exchange(text, port, isDripping)) }
        }
    }

    private static func exchange(_ text: String, _ port: UInt16, _ isDripping: Bool) -> String {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port.bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return "no connection: \(errno)" }
        let bytes = Array(text.replacing("{host}", with: "127.0.0.1:\(port)").utf8)
        send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        // The time that each letter waits for an answer, or that of all.
        var limit = isDripping ? timeval(tv_sec: 0, tv_usec: 20_000) : timeval(tv_sec: 60, tv_usec: 0)
        var letters = isDripping ? 1000 : 0
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, [EAGAIN, EINTR].contains(errno), letters > 0 {
                letters -= 1
                send(descriptor, [UInt8(ascii: "a")], 1, CInt(MSG_NOSIGNAL))
                continue
            }
            // The server resets the connection if a letter arrives after it has closed it.
            if count < 0, errno != ECONNRESET { return open }
            if count <= 0 { return String(decoding: answer, as: UTF8.self) }
            answer += buffer[..<count]
        }
    }
}
