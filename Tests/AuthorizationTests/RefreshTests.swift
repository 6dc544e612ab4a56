import Authorization
import EventBus
import Foundation
import Support
import Testing
import Vocabulary

@Suite("Refresh and log-out")
struct RefreshTests {
    let store = MemoryStore(.fixture)

    func service(_ server: ScriptedServer) -> AuthorizationService {
        AuthorizationService(server: server, store: store, attempts: store)
    }

    @Test("At launch the stored tokens decide, expired or not")
    func launch() async throws {
        let empty = MemoryStore()
        let fresh = AuthorizationService(server: ScriptedServer(), store: empty, attempts: empty)
        #expect(try await fresh.launched().statuses == [.unauthorized])
        #expect(try await service(ScriptedServer()).launched().statuses == [.authorized])
    }

    @Test("A refresh makes the next generation and publishes nothing")
    func refreshed() async throws {
        let server = ScriptedServer()
        #expect(try await service(server).refresh(generation: 1).isEmpty)
        #expect(await server.refreshes == ["refresh-1"])
        #expect(try await store.load().generation == 2)
        #expect(try await store.load().tokens?.refreshToken == "refresh-2")
    }

    @Test("The old refresh token and scope are kept when the answer has no new ones")
    func keepsOld() async throws {
        let grant = TokenGrant(accessToken: "access-2", refreshToken: nil, scope: nil, lifetime: .seconds(60))
        _ = try await service(ScriptedServer(.success(grant))).refresh(generation: 1)
        let tokens = try #require(try await store.load().tokens)
        #expect(tokens.accessToken == "access-2")
        #expect(tokens.refreshToken == "refresh-1")
        #expect(tokens.scope == "a")
    }

    @Test("A generation is refreshed once for many requests, even while the first is in progress")
    func once() async throws {
        let release = Latch()
        let server = ScriptedServer(release: release)
        let service = service(server)
        async let first = service.refresh(generation: 1)
        try await server.isAsked.waitUntilOpen()
        let second = Task.immediate { try await service.refresh(generation: 1) }
        // This call runs on the actor after `second`, which now waits or, if the service is faulty, has called the
        // server.
        _ = try await service.pendingRedirectURI()
        release.open()

        #expect(try await first.isEmpty)
        #expect(try await second.value.isEmpty)
        #expect(try await service.refresh(generation: 1).isEmpty)
        #expect(await server.refreshes.count == 1)
        #expect(try await store.load().generation == 2)
    }

    @Test("A request for an unknown generation causes no refresh")
    func unknownGeneration() async throws {
        let server = ScriptedServer()
        #expect(try await service(server).refresh(generation: 7).isEmpty)
        #expect(await server.refreshes.isEmpty)
    }

    @Test("A refused refresh token ends the connection with a reason, and a later request only reports the end")
    func refused() async throws {
        let server = ScriptedServer(.failure(.grantRefused("Refresh token revoked")))
        let messages = try await service(server).refresh(generation: 1)
        #expect(messages.statuses == [.deauthorized])
        #expect(messages.errorCodes == ["spotify.access-revoked"])
        #expect(try await store.load() == StoredTokens(generation: 2, tokens: nil))

        let again = try await service(server).refresh(generation: 1)
        #expect(again.statuses == [.deauthorized])
        #expect(again.errorCodes.isEmpty)
        #expect(await server.refreshes.count == 1)
    }

    @Test(
        "A temporary failure keeps the tokens and the generation",
        arguments: [
            (AuthorizationFailure.unavailable("status 503"), "spotify.unavailable"),
            (.rateLimited(retryAfter: .seconds(30)), "spotify.rate-limited"),
            (.rateLimited(retryAfter: nil), "spotify.rate-limited"),
            (.requestRefused("Invalid client"), "spotify.request-refused"),
        ])
    func transient(failure: AuthorizationFailure, code: String) async throws {
        let messages = try await service(ScriptedServer(.failure(failure))).refresh(generation: 1)
        #expect(messages.errorCodes == [code])
        #expect(messages.statuses.isEmpty)
        let stored = try await store.load()
        #expect(stored.tokens == .fixture)
        #expect(stored.generation == 1)
        #expect(stored.failedRenewals == 1, "a process that waits for the token learns that it will not come")
    }

    @Test("A failed renewal also answers the requests that were made before it ended; a later request begins another")
    func failedOnce() async throws {
        let clock = ManualDate()
        let server = ScriptedServer(.failure(.unavailable("status 503")))
        let service = AuthorizationService(server: server, store: store, attempts: store, now: { clock.now })
        let asked = clock.now
        clock.advance(by: 5)
        #expect(try await service.refresh(generation: 1, at: asked).errorCodes == ["spotify.unavailable"])
        #expect(try await service.refresh(generation: 1, at: asked).isEmpty)
        #expect(await server.refreshes.count == 1)

        clock.advance(by: 1)
        #expect(try await service.refresh(generation: 1, at: clock.now).errorCodes == ["spotify.unavailable"])
        #expect(try await store.load().failedRenewals == 2)
        await server.answer(.success(.fixture()))
        clock.advance(by: 1)
        #expect(try await service.refresh(generation: 1, at: clock.now).isEmpty)
        #expect(try await store.load().failedRenewals == 0)
        #expect(try await store.load().generation == 2)
    }

    @Test("A failure in the future, of a clock that was set back, prevents no renewal")
    func clockSetBack() async throws {
        let clock = ManualDate()
        let server = ScriptedServer(.failure(.unavailable("status 503")))
        let service = AuthorizationService(server: server, store: store, attempts: store, now: { clock.now })
        _ = try await service.refresh(generation: 1, at: clock.now)
        clock.advance(by: -3600)
        _ = try await service.refresh(generation: 1, at: clock.now)
        #expect(await server.refreshes.count == 2)
    }

    @Test("A renewal that a process did not finish is finished by the next one")
    func unfinished() async throws {
        let killed = service(ScriptedServer())
        _ = try await killed.requestRenewal(of: 1, causedBy: .renewal())

        let server = ScriptedServer()
        let restarted = service(server)
        let renewal = try #require(try await restarted.unfinishedRenewals().first)
        #expect(try await restarted.requestRenewal(of: 1, causedBy: .renewal()).renewal == nil, "it is under way")
        try await restarted.acknowledge(try await restarted.renew(renewal))
        #expect(await server.refreshes == ["refresh-1"])
        #expect(try await service(server).unfinishedRenewals().isEmpty)
    }

    @Test("The next process publishes the end of the connection after a kill during a refused renewal")
    func refusedUntold() async throws {
        let killed = service(ScriptedServer(.failure(.grantRefused("Refresh token revoked"))))
        let renewal = try #require(try await killed.requestRenewal(of: 1, causedBy: .renewal()).renewal)
        _ = try await killed.renew(renewal)

        let restarted = service(ScriptedServer())
        let unfinished = try #require(try await restarted.unfinishedRenewals().first)
        #expect(try await restarted.renew(unfinished).messages.statuses == [.deauthorized])
    }

    @Test("A log-out removes the tokens and the session's attempt once, and is reported each time")
    func deauthorize() async throws {
        let service = service(ScriptedServer())
        for subject in ["anna", Session.default] {
            _ = try await service.requestAuthorization(
                causedBy: .request(id: "from \(subject)", subject: subject), redirectURI: "http://127.0.0.1:1/")
        }
        for _ in 0..<2 {
            #expect(try await service.deauthorize(Session.default).statuses == [.deauthorized])
            #expect(try await store.load() == StoredTokens(generation: 2, tokens: nil))
        }
        #expect(try await store.pending().map(\.cause.subject) == ["anna"])
    }
}
