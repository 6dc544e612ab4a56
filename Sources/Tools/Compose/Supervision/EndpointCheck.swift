import Foundation
import Glibc
import Support
import SystemSupport

/// One check of a service's address: a TCP connection, or an HTTP request.
struct EndpointCheck: Sendable {
    /// The maximum length of the first line of an answer in bytes.
    private static let longestLine = 8192
    /// Looking up a name can block.
    private static let executor = BlockingExecutor("names")

    let test: HealthProbe.Test
    let timeout: Duration
    let clock: RunningClock

    /// Checks the address.
    ///
    /// - Returns: the reason why the check failed; nil if it succeeded.
    func run() async -> String? {
        await firstResult(
            of: { await failure() },
            {
                try? await clock.sleep(for: timeout)
                return "the check took longer than \(timeout)"
            })
    }

    private func failure() async -> String? {
        guard let endpoint = Endpoint(test) else { return "the address to check is not valid" }
        var failure = "\(endpoint.host) has no address"
        for address in await Self.addresses(of: endpoint) {
            let connection = Connection(address.family)
            if let code = await connection.open(address) {
                failure = "cannot connect to \(endpoint.host):\(endpoint.port): \(String(cString: strerror(code)))"
                continue
            }
            guard let path = endpoint.path else { return nil }
            return Self.failure(ofAnswer: await connection.firstLine(of: endpoint, path: path, limit: Self.longestLine))
        }
        return failure
    }

    private static func failure(ofAnswer line: String) -> String? {
        let fields = line.split(scalar: " ", maxSplits: 1)
        guard line.begins(with: "HTTP/"), fields.count == 2, let status = Int(fields[1].prefix(3)) else {
            return "the answer is not one of HTTP"
        }
        return (200..<400).contains(status) ? nil : "the answer is \(fields[1])"
    }

    private struct Address: Sendable {
        let family: CInt
        /// The bytes of a `sockaddr`.
        let bytes: [UInt8]
    }

    private static func addresses(of endpoint: Endpoint) async -> [Address] {
        await executor.run {
            var hints = addrinfo()
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(endpoint.host, endpoint.port, &hints, &list) == 0 else { return [] }
            defer { freeaddrinfo(list) }
            return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { item in
                guard let item = item?.pointee, let address = item.ai_addr else { return nil }
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(item.ai_addrlen))
                return Address(family: item.ai_family, bytes: Array(bytes))
            }
        }
    }

    /// A connection that never blocks a thread.
    private final class Connection: Sendable {
        private let descriptor: CInt

        init(_ family: CInt) {
            let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
            descriptor = socket(family, CInt(type), 0)
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
        }

        /// - Returns: the code of the error; nil if the connection is open.
        func open(_ address: Address) async -> CInt? {
            guard descriptor >= 0 else { return errno }
            let status = address.bytes.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { address in
                    connect(descriptor, address.baseAddress, socklen_t(bytes.count))
                }
            }
            if status == 0 { return nil }
            guard errno == EINPROGRESS else { return errno }
            await DescriptorReadiness.waitForRoom(descriptor)
            var code = CInt(0)
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
            return Task.isCancelled ? ECANCELED : code == 0 ? nil : code
        }

        /// Sends a request, and returns the first line of the answer; an empty string if there is none.
        func firstLine(of endpoint: Endpoint, path: String, limit: Int) async -> String {
            let request =
                "GET \(path) HTTP/1.1\r\nHost: \(endpoint.authority)\r\nUser-Agent: segue\r\nConnection: close\r\n\r\n"
            // A request that does not fit into the socket's buffer counts as not answered.
            guard send(descriptor, request, request.utf8.count, CInt(MSG_NOSIGNAL)) == request.utf8.count else {
                return ""
            }
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1024)
            while !Task.isCancelled, answer.count < limit, !answer.contains(UInt8(ascii: "\n")) {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count > 0 { answer += buffer[..<count] }
                guard count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)) else { break }
                if count < 0 { await DescriptorReadiness.waitForInput(descriptor) }
            }
            return String(decoding: answer.firstLine, as: UTF8.self)
        }
    }
}

/// The address that a health check connects to.
struct Endpoint: Sendable, Equatable {
    let host: String
    let port: String
    /// The path and query of the URL; nil if only the connection is checked.
    let path: String?

    /// Nil if the test is a command or its address is not valid.
    init?(_ test: HealthProbe.Test) {
        switch test {
        case .command:
            return nil
        case .tcp(let address):
            guard let (host, port) = address.cut(atLast: ":") else { return nil }
            self.host = String(host.trimming("[]".unicodeScalars.contains))
            self.port = String(port)
            path = nil
        case .http(let text):
            guard let url = URLComponents(string: text), url.scheme == "http", let host = url.host else { return nil }
            self.host = String(host.trimming("[]".unicodeScalars.contains))
            port = String(url.port ?? 80)
            let start = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
            path = start + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
        }
        guard !host.isEmpty, UInt16(port) ?? 0 > 0 else { return nil }
    }

    /// The value of the header `Host`.
    var authority: String { (host.unicodeScalars.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
