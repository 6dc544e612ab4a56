import Foundation

/// What accounts.spotify.com remembers: codes, grants and tokens, by digest.
///
/// Pure: the time is passed in, and only the values of new secrets are random.
struct AuthorizationState: Codable, Sendable, Equatable {
    /// An approval that waits for the client to trade its code.
    struct Code: Codable, Sendable, Equatable {
        let clientID: String
        let redirectURI: RedirectURI
        let challenge: String
        let scopes: Set<Scope>
        let issuedAt: Date
    }

    /// One approval by the user, and all the tokens that descend from it.
    struct Grant: Codable, Sendable, Equatable {
        let clientID: String
        let scopes: Set<Scope>
        let approvedAt: Date
        var refreshCount = 0
    }

    struct AccessToken: Codable, Sendable, Equatable {
        let scopes: Set<Scope>
        let expiresAt: Date
    }

    struct RefreshToken: Codable, Sendable, Equatable {
        let grant: Int
        var isRevoked = false
    }

    var codes: [Secret.Digest: Code] = [:]
    var grants: [Grant] = []
    var accessTokens: [Secret.Digest: AccessToken] = [:]
    var refreshTokens: [Secret.Digest: RefreshToken] = [:]
    var issuedCount = 0
    var refreshCount = 0

    /// RFC 6749 §4.1.2 recommends ten minutes at most.
    static let codeLifetime: TimeInterval = 600

    /// Spotify ends refresh tokens six months after the user's approval, rotated or not.
    static func refreshTokensExpire(after approval: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(byAdding: .month, value: 6, to: approval) ?? .distantFuture
    }
}
