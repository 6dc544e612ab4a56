import Authorization
import Contracts
import EventBus
import Foundation
import Support
import Synchronization
import Testing
import Vocabulary

@Suite("Sessions with their own accounts")
struct SessionTests {
    let store = MemoryStore()
    let clock = ManualDate()
    let redirectURI = "http://127.0.0.1:4567/callback"

    func service(_ server: ScriptedServer = ScriptedServer()) -> AuthorizationService {
        AuthorizationService(server: server, store: store, attempts: store, now: { [clock] in clock.now })
    }

    func request(_ session: String) async throws -> String {
        let messages = try await service().requestAuthorization(
            causedBy: .request(id: "from \(session)", subject: session), redirectURI: redirectURI)
        return try #require(messages.requestedState)
    }

    func approve(_ state: String) async throws -> AuthorizationOutcome {
        try await service().receive(AuthorizationCallback(answer: .approved(code: "the-code"), state: state))
    }

    /// Connects an account of the session.
    func connect(_ session: String) async throws {
        let outcome = try await approve(try await request(session))
        #expect(outcome.messages.statuses == [.authorized])
        try await service().acknowledge(outcome)
    }

    @Test("A session without an account is unauthorized, whatever another session has")
    func separate() async throws {
        try await connect("anna")
        #expect(try await service().launched("anna").statuses == [.authorized])
        #expect(try await service().launched("bert").statuses == [.unauthorized])
        #expect(try await service().launched(Session.default).statuses == [.unauthorized])
        #expect(try await service().refresh(generation: 1, of: "bert").isEmpty)
    }

    @Test("Renewing and disconnecting change the account of one session only")
    func changes() async throws {
        try await connect("anna")
        try await connect("bert")
        _ = try await service().refresh(generation: 1, of: "anna")
        #expect(try await store.load(of: "anna").generation == 2)
        #expect(try await store.load(of: "bert").generation == 1)

        #expect(try await service().deauthorize("anna").statuses == [.deauthorized])
        #expect(try await service().launched("anna").statuses == [.unauthorized])
        #expect(try await service().launched("bert").statuses == [.authorized])
    }

    @Test("A session is served while Spotify answers another one slowly")
    func concurrent() async throws {
        try await connect("anna")
        try await connect("bert")
        let release = Latch()
        let server = ScriptedServer(release: release)
        let service = service(server)
        async let slow = service.refresh(generation: 1, of: "anna")
        try await server.isAsked.waitUntilOpen()
        #expect(try await service.launched("bert").statuses == [.authorized])
        #expect(try await service.deauthorize("bert").statuses == [.deauthorized])
        release.open()
        #expect(try await slow.isEmpty)
    }

    @Test("When a session ends, its open request ends, its account stays, and other sessions keep theirs")
    func ended() async throws {
        try await connect("anna")
        let (annas, berts) = (try await request("anna"), try await request("bert"))
        #expect(try await service().sessionEnded("anna").isEmpty)
        #expect(try await approve(annas).failure?.code == "spotify.state-mismatch")
        #expect(try await approve(berts).messages.statuses == [.authorized])
        #expect(try await service().launched("anna").statuses == [.authorized])
    }

    @Test("A request for consent without an answer ends after an hour")
    func expiry() async throws {
        let (late, early) = (try await request("anna"), try await request("bert"))
        clock.advance(by: 3599)
        #expect(try await approve(early).messages.statuses == [.authorized])
        #expect(try await service().pendingRedirectURI() == redirectURI)
        clock.advance(by: 1)
        let expired = try await approve(late)
        #expect(expired.messages.errorCodes == ["spotify.request-expired"])
        #expect(expired.cause?.subject == "anna", "the error is shown in this session")
        _ = try await request("carla")
        // The request of bert is not announced yet.
        #expect(try await store.pending().map(\.session) == ["bert", "carla"])
        #expect(try await service().unannouncedOutcomes().compactMap(\.cause?.subject) == ["bert"])
    }

    @Test("A full vault is reported before the user consents, and changes nothing")
    func full() async throws {
        try await connect("anna")
        await store.fill()
        let messages = try await service().requestAuthorization(
            causedBy: .request(subject: "bert"), redirectURI: redirectURI)
        #expect(messages.errorCodes == ["vault.full"])
        #expect(try await store.pending().isEmpty)
        #expect(try await service().launched("anna").statuses == [.authorized])
    }
}

/// A date that a test moves.
final class ManualDate: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1000))

    var now: Date { date.withLock(\.self) }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}
