import Foundation
import Support

/// The state of accounts.spotify.com: the grants, and the digests of codes and tokens.
///
/// Methods that depend on the current time take it as a parameter.
struct AuthorizationState: Codable, Sendable, Equatable {
    /// An approval whose code the client has not exchanged yet.
    private struct Code: Codable, Sendable, Equatable {
        let clientID: String
        let account: String?
        let redirectURI: RedirectURI
        let challenge: String
        let scopes: Set<Scope>
        let issuedAt: Date
    }

    /// An approval by a user. Each refresh token refers to its grant.
    private struct Grant: Codable, Sendable, Equatable {
        let clientID: String
        /// The user id. Nil in a state file of an earlier version, for the first account.
        let account: String?
        let scopes: Set<Scope>
        let approvedAt: Date
        var refreshCount = 0
    }

    private struct AccessToken: Codable, Sendable, Equatable {
        let account: String?
        let scopes: Set<Scope>
        let expiresAt: Date
    }

    private struct RefreshToken: Codable, Sendable, Equatable {
        let grant: Int
        var isRevoked = false
    }

    /// The tokens that a request to `/_control/revoke` revokes.
    enum Revocation: String, CaseIterable, Sendable {
        /// Access tokens. Clients must refresh them.
        case access
        /// Access and refresh tokens. Clients must refresh, and the refresh fails.
        case all
    }

    private var codes: [Secret.Digest: Code] = [:]
    private var grants: [Grant] = []
    private var accessTokens: [Secret.Digest: AccessToken] = [:]
    private var refreshTokens: [Secret.Digest: RefreshToken] = [:]
    private(set) var issuedCount = 0
    private(set) var refreshCount = 0

    var grantCount: Int { grants.count }

    /// False for a state of a file that the simulator would not have written.
    var isValid: Bool {
        let counts = [issuedCount, refreshCount] + grants.map(\.refreshCount)
        return counts.allSatisfy { SafeIntegers.counts.contains(Int64($0)) }
            && refreshTokens.values.allSatisfy { grants.indices.contains($0.grant) }
    }

    /// The time for which a code is valid, in seconds. RFC 6749 §4.1.2 recommends a maximum of ten minutes.
    private static let codeLifetime: TimeInterval = 600

    /// Records a user's approval.
    ///
    /// - Parameter account: The user id.
    /// - Returns: The code, which the client may exchange for tokens once.
    mutating func approve(_ request: ConsentRequest, account: String, at now: Date) -> Secret {
        discardExpired(at: now)
        let code = Secret.random()
        codes[code.digest] = Code(
            clientID: request.client.id,
            account: account,
            redirectURI: request.redirectURI,
            challenge: request.challenge,
            scopes: request.scopes,
            issuedAt: now
        )
        return code
    }

    /// Answers a request to `/api/token`.
    mutating func tokens(
        for request: TokenRequest,
        policy: TokenPolicy,
        at now: Date
    ) throws(TokenError) -> IssuedTokens {
        discardExpired(at: now)
        switch request {
        case .authorizationCode(let clientID, let code, let redirectURI, let verifier):
            let code = try redeem(Secret(code), clientID: clientID, redirectURI: redirectURI, verifier: verifier)
            grants.append(
                Grant(clientID: clientID, account: code.account, scopes: code.scopes, approvedAt: now))
            return issue(grants.count - 1, rotating: true, policy: policy, at: now)
        case .refreshToken(let clientID, let token):
            return try refresh(Secret(token), clientID: clientID, policy: policy, at: now)
        }
    }

    /// Checks the `Authorization` header of a Web API request.
    ///
    /// - Parameter header: The header's value; `nil` if the request has none.
    /// - Returns: The user id and the scopes of the token. The user id is nil for the first account.
    func access(
        authorization header: String?, at now: Date
    ) throws(WebAPIError) -> (account: String?, scopes: Set<Scope>) {
        guard let header else { throw .noToken }
        let parts = header.split(scalar: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .notBearer }
        guard let token = accessTokens[Secret(String(parts[1])).digest] else { throw .invalidAccessToken }
        guard now < token.expiresAt else { throw .expiredAccessToken }
        return (token.account, token.scopes)
    }

    /// Revokes the access tokens, or all tokens, of all clients.
    ///
    /// - Parameter isAffected: Returns true for the user ids whose tokens are revoked.
    mutating func revoke(_ revocation: Revocation, where isAffected: (String?) -> Bool) {
        accessTokens = accessTokens.filter { !isAffected($0.value.account) }
        guard revocation == .all else { return }
        for (digest, token) in refreshTokens where isAffected(grants[token.grant].account) {
            refreshTokens[digest]?.isRevoked = true
        }
    }

    /// Uses up a code. A failed attempt of its client uses the code up, too.
    private mutating func redeem(
        _ secret: Secret,
        clientID: String,
        redirectURI: String,
        verifier: String
    ) throws(TokenError) -> Code {
        guard let code = codes[secret.digest], code.clientID == clientID else { throw .invalidCode }
        codes[secret.digest] = nil
        guard code.redirectURI == RedirectURI(redirectURI) else { throw .invalidRedirectURI }
        guard PKCE.verifier(verifier, answers: code.challenge) else { throw .incorrectVerifier }
        return code
    }

    private mutating func refresh(
        _ secret: Secret,
        clientID: String,
        policy: TokenPolicy,
        at now: Date
    ) throws(TokenError) -> IssuedTokens {
        guard let token = refreshTokens[secret.digest], grants[token.grant].clientID == clientID else {
            throw .invalidRefreshToken
        }
        guard !token.isRevoked else { throw .revokedRefreshToken }
        guard now < Self.refreshTokensExpire(after: grants[token.grant].approvedAt) else { throw .expiredRefreshToken }

        grants[token.grant].refreshCount += 1
        refreshCount += 1
        let rotates =
            switch policy.rotation {
            case .never: false
            case .always: true
            case .alternate: grants[token.grant].refreshCount.isMultiple(of: 2)
            }
        if rotates { refreshTokens[secret.digest]?.isRevoked = true }
        return issue(token.grant, rotating: rotates, policy: policy, at: now)
    }

    private mutating func issue(_ grant: Int, rotating: Bool, policy: TokenPolicy, at now: Date) -> IssuedTokens {
        let scopes = grants[grant].scopes
        let lifetime = Int(policy.accessTokenLifetime.components.seconds)
        let access = Secret.random()
        let refresh = rotating ? Secret.random() : nil
        accessTokens[access.digest] = AccessToken(
            account: grants[grant].account,
            scopes: scopes,
            expiresAt: now.addingTimeInterval(TimeInterval(lifetime))
        )
        if let refresh { refreshTokens[refresh.digest] = RefreshToken(grant: grant) }
        issuedCount += 1
        return IssuedTokens(
            accessToken: access,
            lifetimeInSeconds: lifetime,
            refreshToken: refresh,
            scopes: scopes
        )
    }

    /// Removes expired codes, and access tokens that expired a day ago or earlier.
    private mutating func discardExpired(at now: Date) {
        codes = codes.filter { now.timeIntervalSince($0.value.issuedAt) < Self.codeLifetime }
        accessTokens = accessTokens.filter { now.timeIntervalSince($0.value.expiresAt) < 86_400 }
    }

    /// The time at which the refresh tokens of a grant expire: six months after `approval`, even if they were rotated.
    private static func refreshTokensExpire(after approval: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(byAdding: .month, value: 6, to: approval) ?? .distantFuture
    }
}

/// The tokens in an answer of `/api/token`.
struct IssuedTokens: Sendable {
    let accessToken: Secret
    /// The lifetime of the access token, in seconds.
    let lifetimeInSeconds: Int
    /// The new refresh token. `nil` if the client keeps the refresh token that it has.
    let refreshToken: Secret?
    let scopes: Set<Scope>
}

/// The lifetime of access tokens and the rotation of refresh tokens.
package struct TokenPolicy: Sendable, Equatable {
    /// The refreshes that return a new refresh token. The old refresh token is then revoked.
    package enum Rotation: String, CaseIterable, Sendable {
        /// None: the first refresh token remains valid.
        case never
        /// Every second refresh of a grant.
        case alternate
        /// Every refresh.
        case always
    }

    /// The lifetime of an access token, in whole seconds.
    package var accessTokenLifetime: Duration
    package var rotation: Rotation

    /// - Parameter accessTokenLifetime: One hour by default, as at Spotify.
    package init(accessTokenLifetime: Duration = .seconds(3600), rotation: Rotation = .alternate) {
        self.accessTokenLifetime = accessTokenLifetime
        self.rotation = rotation
    }
}
