import Authorization
import ConsentCallback
import Contracts
import HTTPClient
import HTTPTypes
import RuntimeTestSupport
import Testing

@Suite("The page that the browser comes back to", .timeLimit(.minutes(1)))
struct ConsentListenerTests {
    @Test("An answer is taken, and the person is told that all is well")
    func success() async throws {
        let expected = AuthorizationCallback(answer: .approved(code: "c"), state: "s")
        try await listening(answer: { $0 == expected ? nil : .failure }) {
            let reply = try await get($0 + "?code=c&state=s")
            #expect(reply.status == 200)
            #expect(reply.html.contains("Spotify is connected"))
            #expect(reply.cacheControl == "no-store")
        }
    }

    @Test("A failure says what is wrong and what to do, and what a server said cannot become markup")
    func failure() async throws {
        try await listening(answer: { _ in .failure }) {
            let reply = try await get($0 + "?error=access_denied&state=s")
            #expect(reply.status == 400)
            #expect(reply.html.contains("&lt;b&gt; &amp; more"))
            #expect(!reply.html.contains("<b>"))
            #expect(reply.html.contains("Try again."))
        }
    }

    @Test("Who cannot be served is asked to reload, and the reason stays in the log")
    func interrupted() async throws {
        try await listening(answer: { _ in throw CancellationError() }) {
            let reply = try await get($0 + "?code=c&state=s")
            #expect(reply.status == 400)
            #expect(reply.html.contains("Reload this page"))
        }
    }

    @Test(
        "Anything else is not found",
        arguments: ["/callback", "/callback?code=c", "/favicon.ico", "/", "/callback/x?code=c&state=s"])
    func notFound(target: String) async throws {
        try await listening(answer: { _ in nil }) { redirectURI in
            let reply = try await get(redirectURI.dropLast("/callback".count) + target)
            #expect(reply.status == 404)
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
        answer: @escaping @Sendable (AuthorizationCallback) async throws -> ApplicationError?,
        _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await ConsentListener(pendingRedirectURI: nil, logger: .silent, answer: answer).whileListening(body)
    }
}

extension ApplicationError {
    fileprivate static let failure = ApplicationError(
        code: "test", message: "<b> & more", recovery: "Try again.")
}
