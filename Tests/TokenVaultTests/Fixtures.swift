import Authorization
import EventBus
import Foundation

extension SpotifyTokens {
    static func fixture(_ number: Int = 1) -> SpotifyTokens {
        SpotifyTokens(
            accessToken: "access-secret-\(number)", refreshToken: "refresh-secret-\(number)", scope: "a",
            expiresAt: Date(timeIntervalSince1970: 1000))
    }
}

extension PendingAuthorization {
    static func fixture(_ subject: String = Session.default) -> PendingAuthorization {
        PendingAuthorization(
            state: "state-secret", verifier: CodeVerifier(), redirectURI: "http://127.0.0.1:1/callback",
            cause: Attributes(
                type: MessageType(kind: .command, name: "SpotifyAuthorizationRequested"), source: "device/1",
                subject: subject, time: Date(timeIntervalSince1970: 1000)))
    }
}
