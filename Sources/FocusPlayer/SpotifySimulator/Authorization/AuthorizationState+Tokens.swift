import Foundation

extension AuthorizationState {
    /// Records the user's approval.
    ///
    /// - Returns: The code that the client may trade for tokens, once.
    mutating func approve(_ request: AuthorizationRequest, at now: Date) -> Secret {
        discardExpired(at: now)
        let code = Secret.random()
        codes[code.digest] = Code(
            clientID: request.client.id,
            redirectURI: request.redirectURI,
            challenge: request.challenge,
            scopes: request.scopes,
            issuedAt: now
        )
        return code
    }

    /// Answers `/api/token`.
    mutating func tokens(
        for request: TokenRequest,
        policy: TokenPolicy,
        at now: Date
    ) throws(TokenError) -> IssuedTokens {
        discardExpired(at: now)
        switch request {
        case .authorizationCode(let clientID, let code, let redirectURI, let verifier):
            let code = try redeem(Secret(code), clientID: clientID, redirectURI: redirectURI, verifier: verifier)
            grants.append(Grant(clientID: clientID, scopes: code.scopes, approvedAt: now))
            return issue(grants.count - 1, rotating: true, policy: policy, at: now)
        case .refreshToken(let clientID, let token):
            return try refresh(Secret(token), clientID: clientID, policy: policy, at: now)
        }
    }

    /// A code is spent by the first attempt to trade it, so that whoever intercepts one cannot try verifiers.
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

    /// Old access tokens stay for a day, so that a client that presents one hears that it expired.
    private mutating func discardExpired(at now: Date) {
        codes = codes.filter { now.timeIntervalSince($0.value.issuedAt) < Self.codeLifetime }
        accessTokens = accessTokens.filter { now.timeIntervalSince($0.value.expiresAt) < 86_400 }
    }
}
