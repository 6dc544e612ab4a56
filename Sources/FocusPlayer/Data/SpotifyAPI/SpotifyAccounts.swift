package import Authorization
package import HTTPClient
internal import HTTPTypes

/// accounts.spotify.com: the authorization code flow with PKCE.
package struct SpotifyAccounts: AuthorizationServer {
    /// The permissions of the focus player: read private and collaborative playlists, list devices, control playback.
    package static let scopes = [
        "playlist-read-private", "playlist-read-collaborative", "user-read-playback-state",
        "user-modify-playback-state",
    ]

    private let clientID: String
    private let host: BaseURL
    private let transport: SpotifyTransport

    /// - Parameters:
    ///   - clientID: the client id of the app, as registered at developer.spotify.com. It is not a secret.
    package init(
        clientID: String, client: HTTPClient, host: BaseURL = .spotifyAccounts,
        policy: RateLimitPolicy = RateLimitPolicy()
    ) {
        self.clientID = clientID
        self.host = host
        transport = SpotifyTransport(client: client, policy: policy)
    }

    package func authorizationURL(for request: AuthorizationRequest) -> String {
        let query = FormEncoding.encode([
            "client_id": clientID,
            "response_type": "code",
            "redirect_uri": request.redirectURI,
            "code_challenge_method": "S256",
            "code_challenge": request.codeChallenge,
            "scope": Self.scopes.joined(separator: " "),
            "state": request.state,
            // Without this, Spotify connects the account of the browser's last login without asking. The person could
            // not choose another account for another session.
            "show_dialog": "true",
        ])
        return host.url("/authorize?\(query)")
    }

    package func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        try await requestTokens([
            "client_id": clientID,
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirectURI,
            "code_verifier": verifier.value,
        ])
    }

    package func refresh(_ refreshToken: String) async throws -> TokenGrant {
        try await requestTokens([
            "client_id": clientID,
            "grant_type": "refresh_token",
            "refresh_token": refreshToken,
        ])
    }

    private func requestTokens(_ form: KeyValuePairs<String, String>) async throws -> TokenGrant {
        let reply: SpotifyReply
        do {
            reply = try await transport.send(.post(form: FormEncoding.encode(form), to: host.url("/api/token")))
        } catch let failure as HTTPClient.Failure {
            throw AuthorizationFailure.unavailable(failure.description)
        }
        guard reply.isSuccess else { throw AuthorizationFailure(reply) }
        guard let tokens = reply.decode(TokenPayload.self) else {
            throw AuthorizationFailure.unavailable("the answer cannot be read")
        }
        return tokens.grant
    }
}

/// The answer of the token endpoint (RFC 6749 §5.1).
private struct TokenPayload: Decodable {
    let accessToken: String
    let refreshToken: String?
    let scope: String?
    let expiresIn: Int?

    var grant: TokenGrant {
        TokenGrant(
            accessToken: accessToken, refreshToken: refreshToken, scope: scope,
            lifetime: .seconds(max(0, expiresIn ?? 3600)))
    }
}

extension AuthorizationFailure {
    /// The error of the token endpoint (RFC 6749 §5.2).
    private struct Payload: Decodable {
        let error: String
        let errorDescription: String?
    }

    init(_ reply: SpotifyReply) {
        let payload = reply.decode(Payload.self)
        let reason = ServerMessage.line(payload?.errorDescription ?? payload?.error ?? "status \(reply.status.code)")
        switch reply.status.code {
        case 429:
            self = .rateLimited(retryAfter: reply.retryAfter)
        case 400..<500 where payload?.error == "invalid_grant":
            self = .grantRefused(reason)
        case 400..<500:
            self = .requestRefused(reason)
        default:
            self = .unavailable("the server answered with status \(reply.status.code)")
        }
    }
}
