import Foundation
import HTTPClient
import HTTPTypes
import Support
import Synchronization
import Testing

@Suite("HTTP client", .timeLimit(.minutes(1)))
struct HTTPClientTests {
    /// Sends a request with limits that most tests do not reach.
    func send(
        _ request: HTTPClient.Request, deadline: Duration = .seconds(30), maximumBody: Int = 1 << 20
    ) async throws -> HTTPClient.Response {
        try await HTTPClient.with { try await $0.send(request, deadline: deadline, maximumBody: maximumBody) }
    }

    func failure(
        _ request: HTTPClient.Request, deadline: Duration = .seconds(30), maximumBody: Int = 1 << 20
    ) async throws -> HTTPClient.Failure.Code? {
        let failure = await #expect(throws: HTTPClient.Failure.self) {
            try await send(request, deadline: deadline, maximumBody: maximumBody)
        }
        #expect(failure?.description.contains("secret") == false)
        return failure?.code
    }

    @Test("A request arrives with its method, path, headers and body")
    func request() async throws {
        let received = Mutex<String?>(nil)
        try await RawServer.with { connection, _ in
            received.withLock { $0 = connection.request() }
            connection.send("HTTP/1.1 201 Made\r\nX-Note: a, b\r\nX-Empty:\r\nContent-Length: 2\r\n\r\nok")
        } _: { server in
            let response = try await send(
                HTTPClient.Request(
                    .put, "\(server.url)/a/../b%2F?c=%26", headers: [.authorization: "Bearer x", .accept: ""],
                    body: Data("{}".utf8)))
            #expect(response.status == .created)
            #expect(response.headers[HTTPField.Name("X-Note")!] == "a, b")
            #expect(response.headers[HTTPField.Name("X-Empty")!] == "")
            #expect(response.text == "ok")
            let lines = received.withLock(\.self)?.components(separatedBy: "\r\n") ?? []
            let host = server.url.replacing("http://", with: "")
            #expect(lines.first == "PUT /a/../b%2F?c=%26 HTTP/1.1")
            #expect(
                Set(lines.dropFirst()) == [
                    "Host: \(host)", "Authorization: Bearer x", "Accept:", "Content-Length: 2", "", "{}",
                ])
        }
    }

    @Test("A line break in a value cannot add a header")
    func injection() async throws {
        let received = Mutex<String?>(nil)
        try await RawServer.with { connection, _ in
            received.withLock { $0 = connection.request() }
            connection.answer("")
        } _: { server in
            _ = try await send(HTTPClient.Request(.get, server.url, headers: [.authorization: "a\r\nX-Injected: 1"]))
            #expect(received.withLock(\.self)?.contains("\r\nX-Injected") == false)
        }
    }

    @Test("An empty body is sent as an empty body", arguments: [HTTPRequest.Method.post, .put])
    func emptyBody(method: HTTPRequest.Method) async throws {
        let received = Mutex<String?>(nil)
        try await RawServer.with { connection, _ in
            received.withLock { $0 = connection.request() }
            connection.answer("")
        } _: { server in
            _ = try await send(HTTPClient.Request(method, server.url, body: Data()))
            #expect(received.withLock(\.self)?.contains("Content-Length: 0\r\n") == true)
        }
    }

    @Test("A redirect is an answer and is not followed")
    func redirect() async throws {
        try await RawServer.with { connection, _ in
            while connection.request() != nil {
                connection.send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
            }
        } _: { server in
            let response = try await send(HTTPClient.Request(.get, server.url))
            #expect(response.status == .found)
            #expect(response.headers[.location] == "/elsewhere")
            #expect(server.connections == 1)
        }
    }

    @Test("Informational answers are skipped")
    func informational() async throws {
        try await RawServer.with { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            connection.answer("late")
        } _: { server in
            let response = try await send(HTTPClient.Request(.get, server.url))
            #expect(response.status == .ok)
            #expect(response.headers[HTTPField.Name("Link")!] == nil)
        }
    }

    @Test("A body can have exactly the allowed size")
    func wholeBody() async throws {
        try await RawServer.with { connection, _ in
            _ = connection.request()
            connection.answer(String(repeating: "a", count: 100_000))
        } _: { server in
            let response = try await send(HTTPClient.Request(.get, server.url), maximumBody: 100_000)
            #expect(response.body.count == 100_000)
        }
    }

    @Test("A body that is too large is cut off while it arrives, and its connection is closed")
    func endlessBody() async throws {
        let end = Latch()
        try await RawServer.with { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send(String(repeating: "a", count: 16 << 10)) {}
            end.open()
        } _: { server in
            let code = try await failure(HTTPClient.Request(.get, server.url), maximumBody: 1 << 20)
            #expect(code == .tooLong)
            try await end.waitUntilOpen()
        }
    }

    @Test("A header that is too large is cut off as well")
    func endlessHeader() async throws {
        let end = Latch()
        try await RawServer.with { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-More: \(String(repeating: "a", count: 1000))\r\n") {}
            end.open()
        } _: { server in
            let code = try await failure(HTTPClient.Request(.get, server.url))
            #expect(code == .tooLong)
            try await end.waitUntilOpen()
        }
    }

    @Test("The deadline applies to the whole exchange, however steadily the answer arrives")
    func deadline() async throws {
        try await RawServer.with { connection, _ in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send("a") { usleep(1000) }
        } _: { server in
            let request = HTTPClient.Request(.get, server.url + "/secret")
            let code = try await failure(request, deadline: .milliseconds(200))
            #expect(code == .deadline)
        }
    }

    @Test("A cancelled request ends at once, and closes its connection")
    func cancellation() async throws {
        let requested = Latch()
        let end = Latch()
        try await RawServer.with { connection, _ in
            _ = connection.request()
            requested.open()
            _ = connection.request()
            end.open()
        } _: { server in
            try await HTTPClient.with { client in
                await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
                    group.addTask {
                        try await client.send(
                            HTTPClient.Request(.get, server.url), deadline: .seconds(600), maximumBody: 1)
                    }
                    await requested.waitUntilOpenOrCancelled()
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
                try await end.waitUntilOpen()
            }
        }
    }

    @Test("A cancelled task sends no request")
    func cancelledBefore() async throws {
        try await RawServer.with { connection, _ in
            _ = connection.request()
        } _: { server in
            try await HTTPClient.with { client in
                await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
                    group.cancelAll()
                    group.addTask {
                        try await client.send(
                            HTTPClient.Request(.get, server.url), deadline: .seconds(600), maximumBody: 1)
                    }
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
            }
            #expect(server.connections == 0)
        }
    }

    @Test("Requests in progress fail when the client is closed")
    func closed() async throws {
        let requested = Latch()
        try await RawServer.with { connection, _ in
            _ = connection.request()
            requested.open()
            _ = connection.request()
        } _: { server in
            try await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
                try await HTTPClient.with { client in
                    group.addTask {
                        try await client.send(
                            HTTPClient.Request(.get, server.url), deadline: .seconds(600), maximumBody: 1)
                    }
                    await requested.waitUntilOpenOrCancelled()
                }
                let failure = await #expect(throws: HTTPClient.Failure.self) { try await group.next() }
                #expect(failure?.code == .closed)
            }
        }
    }

    @Test("A closed client refuses requests at once")
    func closedBefore() async throws {
        let escaped = try await HTTPClient.with { $0 }
        let failure = await #expect(throws: HTTPClient.Failure.self) {
            try await escaped.send(
                HTTPClient.Request(.get, "http://127.0.0.1/"), deadline: .seconds(600), maximumBody: 1)
        }
        #expect(failure?.code == .closed)
    }

    @Test("An answer that is not HTTP, or a missing one, is a failure with a reason")
    func noAnswer() async throws {
        func code(answering text: String) async throws -> HTTPClient.Failure.Code? {
            try await RawServer.with { connection, _ in
                _ = connection.request()
                connection.send(text)
            } _: {
                try await failure(HTTPClient.Request(.get, $0.url + "/secret"))
            }
        }
        #expect(try await code(answering: "") == .broken)
        #expect(try await code(answering: "220 mail.example ESMTP\r\n\r\n") == .broken)
        #expect(try await code(answering: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort") == .broken)
        #expect(
            try await code(answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsecret\r\n") == .broken)

        let deaf = try RawServer(isListening: false)
        #expect(try await failure(HTTPClient.Request(.get, deaf.url)) == .noConnection)
        for url in ["", "secret", "http://", "file:///etc/hostname", "ftp://127.0.0.1/secret", "http://a b/secret"] {
            #expect(try await failure(HTTPClient.Request(.get, url)) == .url, "\(url)")
        }
    }
}
