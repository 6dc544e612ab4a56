import Authorization
import Contracts
import EventBus
import Support
import Testing
import Vocabulary

/// Each test would wait until its time limit if an operation waited for the server.
@Suite("Slow answers of Spotify", .timeLimit(.minutes(1)))
struct SlowServerTests {
    let store = MemoryStore(.fixture)
    let release = Latch()
    let server: ScriptedServer
    let service: AuthorizationService

    init() {
        server = ScriptedServer(release: release)
        service = AuthorizationService(server: server, store: store, attempts: store)
    }

    func request(_ session: String) async throws -> AuthorizationCallback {
        let messages = try await service.requestAuthorization(
            causedBy: .request(id: "from \(session)", subject: session), redirectURI: "http://127.0.0.1:1/callback")
        return AuthorizationCallback(answer: .approved(code: "c"), state: try #require(messages.requestedState))
    }

    @Test("The operations of the same session do not wait for a renewal")
    func renewal() async throws {
        async let renewed = service.refresh(generation: 1)
        try await server.isAsked.waitUntilOpen()
        #expect(try await service.launched().statuses == [.authorized])
        #expect(try await service.refresh(generation: 1).isEmpty)
        #expect(try await service.deauthorize(Session.default).statuses == [.deauthorized])
        release.open()
        #expect(try await renewed.isEmpty)
        #expect(try await store.load().tokens == nil, "the account was disconnected before the tokens came")
        #expect(await server.refreshes.count == 1)
    }

    @Test("The operations of the same session do not wait for a consent, and a log-out cancels it")
    func consent() async throws {
        let callback = try await request("anna")
        async let outcome = service.receive(callback)
        try await server.isAsked.waitUntilOpen()
        #expect(try await service.launched("anna").statuses == [.unauthorized])
        #expect(try await service.deauthorize("anna").statuses == [.deauthorized])
        release.open()
        let ended = try await outcome
        #expect(ended.failure?.code == "spotify.state-mismatch")
        #expect(ended.messages.isEmpty)
        #expect(try await store.load(of: "anna").tokens == nil)
    }

    @Test("The consent of a session is finished while Spotify answers another slowly")
    func otherConsent() async throws {
        let (annas, berts) = (try await request("anna"), try await request("bert"))
        async let slow = service.receive(annas)
        try await server.isAsked.waitUntilOpen()
        await server.answerAtOnce()
        #expect(try await service.receive(berts).messages.statuses == [.authorized])
        release.open()
        #expect(try await slow.messages.statuses == [.authorized])
    }

    @Test("A consent that replaces the account takes precedence over a renewal of the old account")
    func replaced() async throws {
        async let renewed = service.refresh(generation: 1)
        try await server.isAsked.waitUntilOpen()
        await server.answerAtOnce()
        let fresh = TokenGrant.fixture(access: "access-9", refresh: "refresh-9")
        await server.answer(.success(fresh))
        _ = try await service.receive(try await request(Session.default))
        await server.answer(.failure(.grantRefused("Refresh token revoked")))
        release.open()
        #expect(try await renewed.isEmpty)
        #expect(try await store.load().tokens?.refreshToken == "refresh-9")
    }
}
