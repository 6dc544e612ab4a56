import Authorization
import ConsentCallback
import Contracts
import HTTPClient
import HTTPTypes
import TestSupport
import Testing

@Suite("Page of the consent's callback", .timeLimit(.minutes(1)))
struct ConsentListenerTests {
    @Test("An answer is accepted, and the page reports success")
    func success() async throws {
        let expected = AuthorizationCallback(answer: .approved(code: "c"), state: "s")
        try await listening(answer: { $0 == expected ? nil : .failure }) {
            let reply = try await get($0 + "?code=c&state=s")
            #expect(reply.status == 200)
            #expect(reply.html.contains("Spotify is connected"))
            #expect(reply.cacheControl == "no-store")
        }
    }

    @Test("A failure is shown with a remedy, and a server's text cannot become markup")
    func failure() async throws {
        try await listening(answer: { _ in .failure }) {
            let reply = try await get($0 + "?error=access_denied&state=s")
            #expect(reply.status == 400)
            #expect(reply.html.contains("&lt;b&gt; &amp; more"))
            #expect(!reply.html.contains("<b>"))
            #expect(reply.html.contains("Try again."))
        }
    }

    @Test("A browser that cannot be served is asked to reload, and the reason is only logged")
    func interrupted() async throws {
        try await listening(answer: { _ in throw CancellationError() }) {
            let reply = try await get($0 + "?code=c&state=s")
            #expect(reply.status == 400)
            #expect(reply.html.contains("Reload this page"))
        }
    }

    @Test("The login's callback listens only on 127.0.0.1")
    func loopback() async throws {
        try await listening(answer: { _ in nil }) { redirectURI in
            let base = redirectURI.dropLast("/callback".count)
            let port = try #require(Int(base.split(separator: ":").last ?? ""))
            #expect(throws: RawConnection.Refused.self) { try RawConnection(port: port, address: "127.0.0.2") }
        }
    }

    @Test(
        "Any other path is not found",
        arguments: ["/callback", "/callback?code=c", "/favicon.ico", "/", "/callback/x?code=c&state=s"])
    func notFound(target: String) async throws {
        try await listening(answer: { _ in nil }) { redirectURI in
            let reply = try await get(redirectURI.dropLast("/callback".count) + target)
            #expect(reply.status == 404)
        }
    }

    @Test("Another method is refused with the allowed ones", arguments: ["POST", "PUT", "DELETE", "OPTIONS"])
    func methods(method: String) async throws {
        try await listening(answer: { _ in nil }) { redirectURI in
            func statusAndAllow(_ path: String) async throws -> [String] {
                let answer = try await RawExchange.answer(
                    to: "\(method) \(path) HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    from: String(redirectURI.dropLast("/callback".count)))
                let lines = answer.split(separator: "\r\n").map(String.init)
                return lines.prefix(1) + lines.filter { $0.lowercased().hasPrefix("allow:") }
            }
            let refused = try await statusAndAllow("/callback?code=c&state=s")
            #expect(refused == ["HTTP/1.1 405 Method Not Allowed", "Allow: GET, HEAD"])
            #expect(try await statusAndAllow("/x") == ["HTTP/1.1 404 Not Found"])
        }
    }

    @Test("HEAD is answered like GET, without the body", arguments: ["?code=c&state=s", "?error=x&state=s", "", "/x"])
    func head(target: String) async throws {
        try await listening(answer: { $0.answer == .approved(code: "c") ? nil : .failure }) { redirectURI in
            func exchange(_ method: String) async throws -> (head: [String], body: String) {
                let answer = try await RawExchange.answer(
                    to: "\(method) /callback\(target) HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
                    from: String(redirectURI.dropLast("/callback".count)))
                let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
                let head = (parts.first ?? "").split(separator: "\r\n").map(String.init)
                return (head.filter { !$0.lowercased().hasPrefix("date:") }.sorted(), parts.dropFirst().first ?? "")
            }
            let (get, head) = (try await exchange("GET"), try await exchange("HEAD"))
            #expect(get.head == head.head && get.head.contains { $0.hasPrefix("HTTP/1.1 ") })
            #expect(head.body == "")
        }
    }

    @Test(
        "A connection whose request does not arrive is closed",
        arguments: ["", "GET", "GET /callback?code=c&state=s HTTP/1.1\r\nHost: 127"])
    func idle(text: String) async throws {
        try await listening(idleLimit: .milliseconds(500), answer: { _ in nil }) { redirectURI in
            let base = String(redirectURI.dropLast("/callback".count))
            let answer = try await RawExchange.answer(to: text, from: base)
            #expect(answer == "")
        }
    }

    @Test("Any number of connections stops neither the process nor the browser that returns")
    func crowd() async throws {
        try await listening(idleLimit: .seconds(300), answer: { _ in nil }) { redirectURI in
            let base = String(redirectURI.dropLast("/callback".count))
            let port = try #require(Int(base.split(separator: ":").last ?? ""))
            let crowd = try (0..<560).map { _ in
                let connection = try RawConnection(port: port)
                connection.send("GET /callback?code=c HTTP/1.1\r\nHost: ")
                return connection
            }
            #expect(try await get(redirectURI + "?code=c&state=s").status == 200)
            #expect(crowd[0].isClosed && !crowd[559].isClosed, "those that wait for the longest time go first")
        }
    }

    @Test(
        "A request under another name, or of another site, is refused",
        arguments: ["evil.example", "127.0.0.1", "{host}\r\nOrigin: http://evil.example"])
    func foreign(host: String) async throws {
        try await listening(answer: { _ in
            Issue.record("the answer was used")
            return nil
        }) { redirectURI in
            let base = String(redirectURI.dropLast("/callback".count))
            let answer = try await RawExchange.answer(
                to: "GET /callback?code=c&state=s HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", from: base)
            #expect(answer.hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test("A connection whose headers arrive letter by letter, without an end, is closed")
    func dripping() async throws {
        try await listening(idleLimit: .milliseconds(500), answer: { _ in nil }) { redirectURI in
            let answer = try await RawExchange.answer(
                to: "GET /callback?code=c&state=s HTTP/1.1\r\nHost: ",
                from: String(redirectURI.dropLast("/callback".count)), isDripping: true)
            #expect(answer == "")
        }
    }

    private struct Reply {
        let status: Int
        let html: String
        let cacheControl: String?
    }

    private func get(_ url: String) async throws -> Reply {
        let response = try await HTTPClient.with {
            try await $0.send(HTTPClient.Request(.get, url), deadline: .seconds(30), maximumBody: 1 << 20)
        }
        return Reply(
            status: response.status.code, html: response.text, cacheControl: response.headers[.cacheControl])
    }

    private func listening(
        idleLimit: Duration = .seconds(10),
        answer: @escaping @Sendable (AuthorizationCallback) async throws -> ApplicationError?,
        _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        let listener = ConsentListener(
            pendingRedirectURI: nil, idleLimit: idleLimit, logger: .silent, answer: answer)
        try await listener.whileListening(body)
    }
}

extension ApplicationError {
    fileprivate static let failure = ApplicationError(
        code: "test", message: "<b> & more", recovery: "Try again.")
}
