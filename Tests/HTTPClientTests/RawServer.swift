import Foundation
import Synchronization

/// A TCP server on 127.0.0.1 that calls a closure of the test for each connection.
final class RawServer: Sendable {
    /// One connection, which has its own thread.
    struct Connection {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        /// The next request with its body. Nil if the client closes the connection first.
        func request() -> String? {
            var text = ""
            while !Self.isWhole(text) {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return nil }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return text
        }

        /// - Returns: False if the client has closed the connection.
        @discardableResult
        func send(_ text: String) -> Bool {
            Array(text.utf8).withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
            }
        }

        /// Answers with status 200 and keeps the connection open.
        func answer(_ body: String) {
            send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }

        private static func isWhole(_ text: String) -> Bool {
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length = text[..<end.lowerBound].lowercased().firstMatch(of: #/content-length: (\d+)/#)
            return text[end.upperBound...].utf8.count >= length.flatMap { Int($0.1) } ?? 0
        }
    }

    struct CannotListen: Error {}

    let url: String
    /// The number of connections so far.
    var connections: Int { count.withLock(\.self) }

    private let listener: Int32
    private let count = Mutex(0)

    /// - Parameter serve: Called for each connection with its number, counted from 1. The connection is closed when
    ///   `serve` returns.
    static func with<Result>(
        _ serve: @escaping @Sendable (Connection, _ number: Int) -> Void,
        _ body: (RawServer) async throws -> Result
    ) async throws -> Result {
        let server = try RawServer()
        Thread { server.accept(serve) }.start()
        // This ends the call of `accept` on the thread.
        defer { shutdown(server.listener, Int32(SHUT_RDWR)) }
        return try await body(server)
    }

    /// - Parameter isListening: True if clients can connect. The port is reserved in either case.
    init(isListening: Bool = true) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound, !isListening || listen(listener, 64) == 0 else { throw CannotListen() }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    deinit {
        close(listener)
    }

    private func accept(_ serve: @escaping @Sendable (Connection, Int) -> Void) {
        while true {
            let descriptor = Foundation.accept(listener, nil, nil)
            // A client that was cancelled may close its connection before it is accepted.
            if descriptor < 0, errno == ECONNABORTED || errno == EINTR { continue }
            guard descriptor >= 0 else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            Thread {
                serve(Connection(descriptor), number)
                close(descriptor)
            }.start()
        }
    }
}
