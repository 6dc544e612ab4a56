import Authorization
import Contracts
import EventBus
import Foundation
import Vocabulary

extension TokenGrant {
    static func fixture(access: String = "access-2", refresh: String? = "refresh-2") -> TokenGrant {
        TokenGrant(accessToken: access, refreshToken: refresh, scope: "a b", lifetime: .seconds(3600))
    }
}

extension SpotifyTokens {
    static let fixture = SpotifyTokens(
        accessToken: "access-1", refreshToken: "refresh-1", scope: "a", expiresAt: Date(timeIntervalSince1970: 0))
}

extension StoredTokens {
    static let fixture = StoredTokens(generation: 1, tokens: .fixture)
}

extension Attributes {
    /// The attributes of a command from a person.
    static func request(id: String = "request-1", subject: String = Session.default) -> Attributes {
        var attributes = Attributes(
            type: Command.SpotifyAuthorizationRequested.type, source: "device/1", subject: subject, id: id)
        attributes.platform = "ios"
        attributes.device = "phone"
        attributes.correlationID = "story-1"
        return attributes
    }

    /// The attributes of a command to renew a token.
    static func renewal(subject: String = Session.default, at date: Date = Date()) -> Attributes {
        Attributes(
            type: Command.SpotifyTokenRefreshRequested.type, source: "music-service/1", subject: subject, time: date)
    }
}

extension [any Message] {
    var statuses: [DomainEvent.SpotifyAuthorizationUpdated.Status] {
        compactMap { ($0 as? DomainEvent.SpotifyAuthorizationUpdated)?.status }
    }

    var errorCodes: [String] {
        compactMap { ($0 as? ApplicationError)?.code }
    }

    /// The state in the URL of ``ScriptedServer``.
    var requestedState: String? {
        lazy.compactMap { ($0 as? DomainEvent.SpotifyAuthURLGenerated)?.url.split(separator: "/")[2] }.first
            .map(String.init)
    }
}
