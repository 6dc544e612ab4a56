import Foundation
import HTTPClient
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@Suite("Kept connections of the HTTP client", .timeLimit(.minutes(1)))
struct KeptConnectionTests {
    static func send(
        _ method: HTTPRequest.Method, _ url: String, by client: HTTPClient
    ) async throws -> HTTPClient.Response {
        try await client.send(HTTPClient.Request(method, url), deadline: .seconds(30), maximumBody: 1 << 20)
    }

    /// A server that answers the first request of its first connection, and closes the connection on the second
    /// request.
    func closingServer(
        _ body: (RawServer, _ received: @escaping @Sendable () -> [String]) async throws -> Void
    ) async throws {
        let received = Mutex<[String]>([])
        let record: @Sendable (String) -> Void = { request in
            received.withLock { $0.append(String(request.prefix { $0 != " " })) }
        }
        try await RawServer.with { connection, number in
            guard let first = connection.request() else { return }
            record(first)
            connection.answer("\(number)")
            guard let second = connection.request() else { return }
            record(second)
            if number > 1 { connection.answer("\(number)") }
        } _: { server in
            try await body(server) { received.withLock(\.self) }
        }
    }

    @Test("The next request uses the same connection")
    func reuse() async throws {
        try await RawServer.with { connection, _ in
            while connection.request() != nil { connection.answer("ok") }
        } _: { server in
            try await HTTPClient.with { client in
                for _ in 0..<20 { _ = try await Self.send(.get, server.url, by: client) }
            }
            #expect(server.connections == 1)
        }
    }

    @Test("A safe request is sent again if its kept connection closes")
    func safe() async throws {
        try await closingServer { server, received in
            try await HTTPClient.with { client in
                let texts = [
                    try await Self.send(.get, server.url, by: client).text,
                    try await Self.send(.get, server.url, by: client).text,
                ]
                #expect(texts == ["1", "2"])
            }
            #expect(received() == ["GET", "GET", "GET"])
        }
    }

    @Test(
        "An unsafe request never uses a kept connection, so it is sent once",
        arguments: [HTTPRequest.Method.post, .put, .delete, .patch])
    func change(method: HTTPRequest.Method) async throws {
        try await closingServer { server, received in
            try await HTTPClient.with { client in
                let texts = [
                    try await Self.send(.get, server.url, by: client).text,
                    try await Self.send(method, server.url, by: client).text,
                ]
                #expect(texts == ["1", "2"])
            }
            #expect(received() == ["GET", method.rawValue])
        }
    }

    @Test("Many concurrent requests are all answered")
    func many() async throws {
        try await RawServer.with { connection, _ in
            while let request = connection.request() {
                connection.answer(String(request.split(separator: " ")[1].dropFirst()))
            }
        } _: { server in
            try await HTTPClient.with { client in
                try await withThrowingTaskGroup { group in
                    for number in 0..<200 {
                        group.addTask {
                            let text = try await Self.send(.get, "\(server.url)/\(number)", by: client).text
                            #expect(text == "\(number)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("A thousand requests leak no memory and no descriptor")
    func leaks() async throws {
        try await RawServer.with { connection, _ in
            while connection.request() != nil { connection.answer(String(repeating: "a", count: 10_000)) }
        } _: { server in
            // A separate process, because other tests use memory and descriptors at the same time.
            let output = try await TestProgram(TestProgram.built("http-fixture"), [server.url]).output()
            let growth = output.split(separator: " ").compactMap { Int($0) }
            try #require(growth.count == 2, "\(output)")
            #expect(growth[0] < 3_000_000)
            #expect(growth[1] < 5)
        }
    }
}
