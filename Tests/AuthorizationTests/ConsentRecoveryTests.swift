import Authorization
import Contracts
import EventBus
import Foundation
import Support
import Testing
import Vocabulary

@Suite("Consent with killed processes")
struct ConsentRecoveryTests {
    let store = MemoryStore()
    let server = ScriptedServer()
    let redirectURI = "http://127.0.0.1:4567/callback"

    func service() -> AuthorizationService {
        AuthorizationService(server: server, store: store, attempts: store)
    }

    func request(_ cause: Attributes = .request()) async throws -> String {
        let messages = try await service().requestAuthorization(causedBy: cause, redirectURI: redirectURI)
        return try #require(messages.requestedState)
    }

    func approval(_ state: String) -> AuthorizationCallback {
        AuthorizationCallback(answer: .approved(code: "the-code"), state: state)
    }

    @Test("A restarted process knows where the answer arrives, and finishes the consent")
    func restart() async throws {
        let state = try await request()
        let restarted = service()
        #expect(try await restarted.pendingRedirectURI() == redirectURI)
        #expect(try await restarted.unannouncedOutcomes().isEmpty)
        #expect(try await restarted.receive(approval(state)).messages.statuses == [.authorized])
    }

    @Test("The same command gives the same URL again, so an open page stays valid")
    func repeated() async throws {
        #expect(try await request() == request())
        #expect(try await store.pending().count == 1)
    }

    @Test("A new command replaces the session's attempt, and no other session's")
    func newest() async throws {
        let first = try await request(.request(id: "1"))
        let other = try await request(.request(id: "2", subject: "anna"))
        let second = try await request(.request(id: "3"))

        #expect(try await service().receive(approval(first)).failure?.code == "spotify.state-mismatch")
        #expect(try await service().receive(approval(other)).cause?.id == "2")
        #expect(try await service().receive(approval(second)).cause?.id == "3")
    }

    @Test("A process that is killed after storing the tokens is replaced by one that publishes them")
    func unannounced() async throws {
        _ = try await service().receive(approval(try await request()))

        let restarted = service()
        let outcomes = try await restarted.unannouncedOutcomes()
        #expect(outcomes.map(\.messages.statuses) == [[.authorized]])
        #expect(outcomes.first?.cause?.id == "request-1")
        try await restarted.acknowledge(try #require(outcomes.first))
        #expect(try await service().unannouncedOutcomes().isEmpty)
        #expect(try await store.load().generation == 1)
    }

    @Test("A kill before the tokens are stored publishes nothing, and a later refresh does not count as consent")
    func lostGrant() async throws {
        let state = try await request()
        await store.dieBeforeSaving()
        await #expect(throws: CancellationError.self) { try await service().receive(approval(state)) }

        #expect(try await service().unannouncedOutcomes().isEmpty)
        _ = try await store.save(.fixture)
        #expect(try await service().unannouncedOutcomes().isEmpty)
    }

    @Test("A page that is loaded five times at once uses its code once, and publishes one connection")
    func reloaded() async throws {
        let state = try await request()
        let service = service()
        let outcomes = try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await service.receive(approval(state)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.flatMap(\.messages).statuses == [.authorized])
        #expect(outcomes.allSatisfy { $0.failure == nil })
        #expect(await server.exchanges.count == 1)
        #expect(try await store.load().generation == 1)
    }

    @Test("If the first of two equal answers fails temporarily, both show it, and it is published once")
    func failedTwice() async throws {
        let release = Latch()
        let server = ScriptedServer(.failure(.unavailable("no connection")), release: release)
        let service = AuthorizationService(server: server, store: store, attempts: store)
        let messages = try await service.requestAuthorization(causedBy: .request(), redirectURI: redirectURI)
        let callback = approval(try #require(messages.requestedState))
        async let one = service.receive(callback)
        try await server.isAsked.waitUntilOpen()
        let two = Task.immediate { try await service.receive(callback) }
        // This call runs on the actor after `two`.
        _ = try await service.pendingRedirectURI()
        release.open()
        let outcomes = try await [one, two.value]
        #expect(outcomes.flatMap(\.messages).errorCodes == ["spotify.unavailable"])
        #expect(outcomes.map(\.failure?.code) == ["spotify.unavailable", "spotify.unavailable"])
        #expect(await server.exchanges.count == 1)
    }
}
