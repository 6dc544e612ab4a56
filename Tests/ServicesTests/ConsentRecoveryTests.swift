import Authorization
import ConsentCallback
import Contracts
import EventBus
import Logging
import SpotifyTestSupport
import Synchronization
import TestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("Connecting Spotify with a killed auth-service", .timeLimit(.minutes(2)))
struct ConsentRecoveryTests {
    @Test("The answer arrives at the promised address although the service was killed during the consent")
    func whileConsenting() async throws {
        try await Stage.with { stage in
            let asked = Held<(cause: Envelope, url: String)>()
            try await stage.withAuthService { asked.value = try await stage.requestConsent() }
            let (cause, url) = try #require(asked.value)
            try await stage.withAuthService {
                let page = try await stage.press("approve", at: url)
                #expect(page.status == 200)
                #expect(try await stage.device.status(after: cause) == .authorized)
            }
        }
    }

    @Test("A consent is published once at the next start after a kill between storing and publishing")
    func beforeTelling() async throws {
        try await Stage.with { stage in
            let cause = try await stage.device.tap(Command.SpotifyAuthorizationRequested())
            try await consentUntold(stage, cause.attributes)
            try await stage.withAuthService {
                let status = try await stage.device.status(after: cause)
                #expect(status == .authorized)
            }
            try await stage.withAuthService {
                let launch = try await stage.device.publish(DomainEvent.LaunchFinished())
                #expect(try await stage.device.status(after: launch) == .authorized)
            }
            let told = try await stage.device.story(of: cause).filter { $0 == "event.SpotifyAuthorizationUpdated" }
            #expect(told.count == 1)
        }
    }

    @Test("A consent can be requested again when another process has taken the port")
    func portTaken() async throws {
        try await Stage.with { stage in
            let asked = Held<(cause: Envelope, url: String)>()
            try await stage.withAuthService { asked.value = try await stage.requestConsent() }
            let url = try #require(asked.value).url
            let port = try #require(url.firstMatch(of: #/127\.0\.0\.1%3A(\d+)%2Fcallback/#)?.1)
            let squatter = ConsentListener(
                pendingRedirectURI: "http://127.0.0.1:\(port)/callback", logger: .silent, answer: { _ in nil })
            try await squatter.whileListening { redirectURI in
                #expect(redirectURI.contains(":\(port)/"))
                try await stage.withAuthService { try await stage.connect() }
            }
            #expect(try await stage.vault.read().tokens != nil)
        }
    }

    /// Gives consent and stores the tokens. The process ends before it publishes the outcome.
    private func consentUntold(_ stage: Stage, _ cause: Attributes) async throws {
        let service = try await stage.authorization
        let messages = try await service.requestAuthorization(
            causedBy: cause, redirectURI: "http://127.0.0.1:49152/callback")
        let asked = try #require(messages.first as? DomainEvent.SpotifyAuthURLGenerated)
        _ = try await service.receive(try await stage.spotify.decide("approve", at: asked.url))
    }
}

/// A value that one part of a test passes to another.
final class Held<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
