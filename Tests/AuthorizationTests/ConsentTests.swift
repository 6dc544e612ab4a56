import Authorization
import Contracts
import EventBus
import Foundation
import Synchronization
import Testing
import Vocabulary

@Suite("Consent")
struct ConsentTests {
    let store = MemoryStore()
    let server = ScriptedServer()
    let redirectURI = "http://127.0.0.1:4567/callback"

    /// A service on the same store, as after a restart of the process.
    func service() -> AuthorizationService {
        AuthorizationService(server: server, store: store, attempts: store, now: { Date(timeIntervalSince1970: 1000) })
    }

    func request(_ cause: Attributes = .request()) async throws -> String {
        let messages = try await service().requestAuthorization(causedBy: cause, redirectURI: redirectURI)
        return try #require(messages.requestedState)
    }

    func approval(_ state: String) -> AuthorizationCallback {
        AuthorizationCallback(answer: .approved(code: "the-code"), state: state)
    }

    @Test("An approval exchanges the code with the request's verifier, and stores the tokens")
    func approved() async throws {
        let state = try await request()
        let attempt = try #require(try await store.pending().first)
        let outcome = try await service().receive(approval(state))

        #expect(outcome.messages.statuses == [.authorized])
        #expect(outcome.failure == nil)
        let exchange = try #require(await server.exchanges.first)
        #expect(exchange == ("the-code", attempt.verifier, redirectURI))
        let tokens = try #require(try await store.load().tokens)
        #expect(tokens.accessToken == "access-2")
        #expect(tokens.expiresAt == Date(timeIntervalSince1970: 4600))
    }

    @Test("The results of a consent have the session, correlation and device of its command")
    func cause() async throws {
        let state = try await request(.request(subject: "anna"))
        let outcome = try await service().receive(approval(state))
        let cause = try #require(outcome.cause)
        let answer = try Envelope(DomainEvent.PlaylistsLoaded(), source: "auth-service/1", causedBy: cause)

        #expect(answer.subject == "anna")
        #expect(answer.attributes.correlationID == "story-1")
        #expect(answer.attributes.causationID == "request-1")
        #expect(answer.attributes.device == "phone")
    }

    @Test("A denial is an error and no token; the next request starts afresh")
    func denied() async throws {
        let state = try await request()
        let outcome = try await service().receive(
            AuthorizationCallback(answer: .denied(error: "access_denied"), state: state))

        #expect(outcome.messages.errorCodes == ["spotify.access-denied"])
        #expect(outcome.messages.statuses.isEmpty)
        try await service().acknowledge(outcome)
        #expect(try await store.load().tokens == nil)
        #expect(try await store.pending().isEmpty)
        #expect(await server.exchanges.isEmpty)
    }

    @Test("A server's error is reported by its code, and a forged one is not repeated")
    func otherErrors() async throws {
        for (error, isTold) in [("server_error", true), ("<b>pay here</b>", false)] {
            let state = try await request()
            let outcome = try await service().receive(
                AuthorizationCallback(answer: .denied(error: error), state: state))
            #expect(outcome.messages.errorCodes == ["spotify.consent-failed"])
            #expect(outcome.failure?.message.contains(error) == isTold)
        }
    }

    @Test("A wrong state exchanges nothing, and keeps the attempt of the user")
    func wrongState() async throws {
        let state = try await request()
        let forged = try await service().receive(approval("guessed"))
        #expect(forged.failure?.code == "spotify.state-mismatch")
        #expect(forged.messages.isEmpty, "a forged answer must not reach a person through the bus")
        #expect(forged.cause == nil)
        #expect(await server.exchanges.isEmpty)

        try await service().acknowledge(forged)
        #expect(try await service().receive(approval(state)).messages.statuses == [.authorized])
    }

    @Test("A wrong verifier ends the attempt with an error and no token")
    func wrongVerifier() async throws {
        await server.answer(.failure(.grantRefused("code_verifier was incorrect")))
        let outcome = try await service().receive(approval(try await request()))
        #expect(outcome.messages.errorCodes == ["spotify.code-refused"])
        #expect(outcome.failure?.message.contains("code_verifier was incorrect") == true)
        try await service().acknowledge(outcome)
        #expect(try await store.load() == .none)
        #expect(try await store.pending().isEmpty)
    }

    @Test("A page that is loaded again after success shows success and publishes nothing")
    func repeated() async throws {
        let state = try await request()
        let service = service()
        try await service.acknowledge(try await service.receive(approval(state)))
        let again = try await service.receive(approval(state))
        #expect(again.failure == nil)
        #expect(again.messages.isEmpty)
        #expect(await server.exchanges.count == 1)

        _ = try await service.deauthorize(Session.default)
        #expect(try await service.receive(approval(state)).failure?.code == "spotify.state-mismatch")
    }

    @Test("A page that is loaded again after a denial shows the denial and publishes nothing")
    func deniedAgain() async throws {
        let denial = AuthorizationCallback(answer: .denied(error: "access_denied"), state: try await request())
        let service = service()
        try await service.acknowledge(try await service.receive(denial))
        let again = try await service.receive(denial)
        #expect(again.failure?.code == "spotify.access-denied")
        #expect(again.messages.isEmpty)
    }

    @Test("A forged answer publishes nothing, even if the vault cannot be read")
    func forgedWhileUnreadable() async throws {
        await store.fail(with: TokenStoreError(code: "vault.corrupt", message: "damaged", recovery: "Remove it."))
        let outcome = try await service().receive(approval("guessed"))
        #expect(outcome.failure?.code == "vault.corrupt")
        #expect(outcome.messages.isEmpty)
    }

    @Test("The attempt stays while Spotify is away, and a reload of the page finishes it")
    func transient() async throws {
        let state = try await request()
        await server.answer(.failure(.unavailable("no connection")))
        let failed = try await service().receive(approval(state))
        #expect(failed.messages.errorCodes == ["spotify.unavailable"])
        #expect(failed.cause?.id == "request-1")
        try await service().acknowledge(failed)

        await server.answer(.success(.fixture()))
        #expect(try await service().receive(approval(state)).messages.statuses == [.authorized])
    }

    @Test("A grant without a refresh token is refused")
    func noRefreshToken() async throws {
        await server.answer(.success(.fixture(refresh: nil)))
        let outcome = try await service().receive(approval(try await request()))
        #expect(outcome.messages.errorCodes == ["spotify.no-refresh-token"])
        #expect(try await store.load().tokens == nil)
    }

    @Test("A vault that cannot be read is an error with a remedy, and ends nothing")
    func unreadable() async throws {
        let state = try await request()
        let broken = TokenStoreError(code: "vault.corrupt", message: "tokens is damaged", recovery: "Remove it.")
        await store.fail(with: broken)
        #expect(
            try await service().requestAuthorization(causedBy: .request(), redirectURI: redirectURI).errorCodes
                == ["vault.corrupt"])
        let launched = try await service().launched()
        #expect(launched.errorCodes == ["vault.corrupt"])
        #expect(launched.statuses == [.unauthorized])

        await store.fail(with: nil)
        #expect(try await service().receive(approval(state)).messages.statuses == [.authorized])
    }

    @Test("The path of a file is logged, and is not in an error that the user sees")
    func path() async throws {
        let logged = Mutex<[String]>([])
        let service = AuthorizationService(
            server: server, store: store, attempts: store, log: { line in logged.withLock { $0.append(line) } })
        await store.fail(
            with: TokenStoreError(
                code: "vault.corrupt", message: "/state/vault/tokens is damaged",
                recovery: "Remove /state/vault/tokens.",
                namesFile: true))
        let outcome = try await service.receive(approval("any"))
        let errors = try await service.launched().compactMap { $0 as? ApplicationError } + [outcome.failure]
        for error in errors {
            #expect(error?.code == "vault.corrupt")
            #expect(error?.message.contains("/state") == false && error?.recovery?.contains("/state") == false)
        }
        #expect(errors.count == 2)
        #expect(logged.withLock(\.self).count { $0.contains("/state/vault/tokens is damaged") } == 2)
    }
}

@Suite("Authorization callback")
struct AuthorizationCallbackTests {
    @Test("An approval has a code and a state, without percent-encoding")
    func approval() {
        #expect(
            AuthorizationCallback(target: "/callback?code=a%2Fb&state=s%20t")
                == AuthorizationCallback(answer: .approved(code: "a/b"), state: "s t"))
    }

    @Test("An error takes precedence over a code")
    func denial() {
        #expect(
            AuthorizationCallback(target: "/callback?error=access_denied&code=c&state=s")
                == AuthorizationCallback(answer: .denied(error: "access_denied"), state: "s"))
    }

    @Test(
        "A request that is not an answer is ignored",
        arguments: ["/callback?code=c", "/callback?state=s", "/callback?code=&state=s", "/favicon.ico", "", "%%%"])
    func other(target: String) {
        #expect(AuthorizationCallback(target: target) == nil)
    }
}
