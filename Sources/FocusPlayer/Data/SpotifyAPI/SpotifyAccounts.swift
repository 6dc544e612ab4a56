package import Authorization
package import HTTPClient

/// accounts.spotify.com: the authorization code flow with PKCE.
package struct SpotifyAccounts: AuthorizationServer {
    /// What the focus player does: read private playlists, see devices, play.
    package static let scopes = [
        "playlist-read-private", "playlist-read-collaborative", "user-read-playback-state",
        "user-modify-playback-state",
    ]

    private let clientID: String
    private let host: BaseURL
    private let transport: SpotifyTransport

    /// - Parameters:
    ///   - clientID: of the app as registered at developer.spotify.com. Not a secret.
    package init(
        clientID: String, client: HTTPClient, hosts: SpotifyHosts = SpotifyHosts(),
        policy: RateLimitPolicy = RateLimitPolicy()
    ) {
        self.clientID = clientID
        host = hosts.accounts
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
