import Contracts
import EventBus
import HTTPClient
import HTTPTypes
import SpotifyTestSupport
import Vocabulary

extension Stage {
    struct Page: Sendable {
        let status: Int
        let html: String
    }

    /// Asks for consent. The URL that a browser is to open comes back.
    func requestConsent() async throws -> (cause: Envelope, url: String) {
        let cause = try await device.tap(Command.SpotifyAuthorizationRequested())
        return (cause, try await device.outcome(of: cause, DomainEvent.SpotifyAuthURLGenerated.self).url)
    }

    /// Presses a button of Spotify's consent page, and follows where that leads.
    func press(_ button: String, at url: String) async throws -> Page {
        try await browse(try await spotify.redirect(after: button, at: url))
    }

    func browse(_ url: String) async throws -> Page {
        let response = try await spotify.send(HTTPClient.Request(.get, url))
        return Page(status: response.status.code, html: response.text)
    }

    /// Connects the account, from the tap to the browser's page.
    func connect() async throws {
        let (cause, url) = try await requestConsent()
        _ = try await press("approve", at: url)
        _ = try await device.outcome(of: cause, DomainEvent.SpotifyAuthorizationUpdated.self)
    }
}
