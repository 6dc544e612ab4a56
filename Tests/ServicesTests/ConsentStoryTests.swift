import Authorization
import Contracts
import EventBus
import SpotifyTestSupport
import TestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("Connecting Spotify", .timeLimit(.minutes(2)))
struct ConsentStoryTests {
    @Test("A launch is answered with the state of the account, before and after consent")
    func launch() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let device = stage.device
                let first = try await device.publish(DomainEvent.LaunchFinished())
                #expect(try await device.status(after: first) == .unauthorized)

                let (cause, url) = try await stage.requestConsent()
                let page = try await stage.press("approve", at: url)
                #expect(page.status == 200)
                #expect(page.html.contains("Spotify is connected"))
                #expect(page.html.contains("close this window"))
                #expect(try await device.status(after: cause) == .authorized)
                #expect(try await stage.vault.read().tokens != nil)

                let second = try await device.publish(DomainEvent.LaunchFinished())
                #expect(try await device.status(after: second) == .authorized)
                #expect(stage.secrets.count == 4, "code, verifier, access and refresh token")
            }
        }
    }

    @Test("All results of a consent belong to the device and the story that began it")
    func origin() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                try await stage.connect()
                let story = try await stage.device.everything()
                #expect(
                    story.map(\.type) == [
                        Command.SpotifyAuthorizationRequested.type, DomainEvent.SpotifyAuthURLGenerated.type,
                        DomainEvent.SpotifyAuthorizationUpdated.type,
                    ])
                #expect(Set(story.map(\.attributes.device)) == ["phone"])
                #expect(Set(story.map(\.attributes.correlationID)).count == 1)
            }
        }
    }

    @Test("A denial is an error for the user, and gives no token")
    func denial() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (cause, url) = try await stage.requestConsent()
                let page = try await stage.press("deny", at: url)
                #expect(page.status == 400)
                #expect(page.html.contains("Access to Spotify was denied"))
                let error: ApplicationError = try await stage.device.outcome(of: cause)
                #expect(error.code == "spotify.access-denied")
                #expect(try await stage.vault.read() == .none)
            }
        }
    }

    @Test("Forged answers publish nothing, and do not affect the current consent")
    func wrongState() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (cause, url) = try await stage.requestConsent()
                let answer = try await stage.spotify.redirect(after: "approve", at: url)
                for number in 0..<20 {
                    let forged = answer.replacing(#/state=[^&]+/#, with: "state=forged\(number)")
                    #expect(try await stage.browse(forged).status == 400)
                }
                #expect(try await stage.device.everything().allSatisfy { $0.type != ApplicationError.type })
                #expect(try await stage.vault.read() == .none)

                #expect(try await stage.browse(answer).status == 200)
                #expect(try await stage.device.status(after: cause) == .authorized)
            }
        }
    }

    @Test("Each page of equal answers shows success, which is published once")
    func repeated() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (cause, url) = try await stage.requestConsent()
                let answer = try await stage.spotify.redirect(after: "approve", at: url)
                try await withThrowingTaskGroup { group in
                    for _ in 0..<5 { group.addTask { try await stage.browse(answer).status } }
                    for try await status in group { #expect(status == 200) }
                }
                #expect(try await stage.device.status(after: cause) == .authorized)
                let page = try await stage.browse(answer)
                #expect(page.status == 200)
                #expect(page.html.contains("Spotify is connected"))
                let story = try await stage.device.story(of: cause)
                #expect(story == ["event.SpotifyAuthURLGenerated", "event.SpotifyAuthorizationUpdated"])
            }
        }
    }

    @Test("A code that was given for another verifier is refused")
    func wrongVerifier() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (cause, url) = try await stage.requestConsent()
                let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
                let tampered = url.replacing(#/code_challenge=[^&]+/#, with: "code_challenge=\(challenge)")
                #expect(try await stage.press("approve", at: tampered).status == 400)
                let error: ApplicationError = try await stage.device.outcome(of: cause)
                #expect(error.code == "spotify.code-refused")
                #expect(try await stage.vault.read() == .none)
            }
        }
    }

    @Test("A log-out removes the account")
    func logOut() async throws {
        try await Stage.with { stage in
            try await stage.withServices {
                try await stage.connect()
                let cause = try await stage.device.tap(Command.SpotifyDeauthorizationRequested())
                #expect(try await stage.device.status(after: cause) == .deauthorized)
                let playlists: Document.Playlists = try await stage.device.outcome(of: cause)
                #expect(playlists.playlists.isEmpty)
                #expect(try await stage.vault.read().tokens == nil)
            }
        }
    }
}
