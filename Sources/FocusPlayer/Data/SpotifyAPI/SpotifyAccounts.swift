package import Authorization
package import HTTPClient
internal import HTTPTypes
internal import Support

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
    /// The maximum time of a request with all its attempts.
    private let timeLimit: Duration

    /// - Parameters:
    ///   - clientID: the client id of the app, as registered at developer.spotify.com. It is not a secret.
    ///   - timeLimit: the maximum time of a request to the server, with all its attempts. Processes that wait for a
    ///     renewed token wait longer than this.
    package init(
        clientID: String, client: HTTPClient, host: BaseURL = .spotifyAccounts,
        policy: RateLimitPolicy = RateLimitPolicy(), timeLimit: Duration = .seconds(10)
    ) {
        self.clientID = clientID
        self.host = host
        transport = SpotifyTransport(client: client, policy: policy, rateLimit: SharedRateLimit())
        self.timeLimit = timeLimit
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
        try await requestTokens(
            [
                "client_id": clientID,
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirectURI,
                "code_verifier": verifier.value,
            ], secrets: [code, verifier.value])
    }

    package func refresh(_ refreshToken: String) async throws -> TokenGrant {
        try await requestTokens(
            [
                "client_id": clientID,
                "grant_type": "refresh_token",
                "refresh_token": refreshToken,
            ], secrets: [refreshToken])
    }

    /// - Parameter secrets: values of the form that must not be shown, even if the server repeats them in an error.
    private func requestTokens(
        _ form: KeyValuePairs<String, String>, secrets: [String]
    ) async throws -> TokenGrant {
        let request = HTTPClient.Request.post(form: FormEncoding.encode(form), to: host.url("/api/token"))
        let reply: SpotifyReply
        do {
            // The limit is that of all attempts together.
            reply = try await withTimeLimit(
                timeLimit, orThrow: AuthorizationFailure.unavailable("no answer in time")
            ) { try await transport.send(request) }
        } catch let failure as HTTPClient.Failure {
            throw AuthorizationFailure.unavailable(failure.description)
        }
        guard reply.isSuccess else { throw AuthorizationFailure(reply, hiding: secrets) }
        guard let tokens = reply.decode(TokenPayload.self) else {
            throw AuthorizationFailure.unavailable("the answer cannot be read")
        }
        return try tokens.grant()
    }
}

/// The answer of the token endpoint (RFC 6749 §5.1). Fields that the app can do without may have any form.
private struct TokenPayload: Decodable {
    private enum CodingKeys: CodingKey {
        case accessToken, tokenType, refreshToken, scope, expiresIn
    }

    /// The lifetime of an access token if the server does not tell it, in seconds.
    private static let usualLifetime = 3600.0
    /// A longer lifetime counts as this one, in seconds.
    private static let maximumLifetime = 366.0 * 86400

    private let accessToken: String
    private let tokenType: String?
    private let refreshToken: String?
    private let scope: String?
    /// In seconds.
    private let lifetime: Double

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? container.decode(String.self, forKey: key) }
        accessToken = try container.decode(String.self, forKey: .accessToken)
        tokenType = text(.tokenType)
        // An empty token is none: the client keeps the one that it has.
        refreshToken = text(.refreshToken).flatMap { $0.isEmpty ? nil : $0 }
        scope = text(.scope)
        let seconds = (try? container.decode(Double.self, forKey: .expiresIn)) ?? text(.expiresIn).flatMap(Double.init)
        lifetime = seconds.flatMap { $0.isFinite ? $0 : nil } ?? Self.usualLifetime
    }

    /// - Throws: ``AuthorizationFailure/unavailable(_:)`` if the tokens cannot be used.
    func grant() throws -> TokenGrant {
        guard tokenType.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw AuthorizationFailure.unavailable("the token is not a bearer token")
        }
        guard accessToken.isBearerToken else {
            throw AuthorizationFailure.unavailable("the access token has characters that are not allowed, or none")
        }
        guard refreshToken?.isVisibleASCII ?? true else {
            throw AuthorizationFailure.unavailable("the refresh token has characters that are not allowed")
        }
        return TokenGrant(
            accessToken: accessToken, refreshToken: refreshToken, scope: scope,
            lifetime: .seconds(Int64(min(max(0, lifetime), Self.maximumLifetime))))
    }
}

extension String {
    /// True if the text has the syntax `b64token` (RFC 6750 §2.1), which may be sent in a header.
    fileprivate var isBearerToken: Bool {
        let bytes = utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default:
                    "-._~+/".utf8.contains(byte)
                }
            }
    }

    /// True if the text has only the characters of a refresh token (RFC 6749, appendix A.17).
    fileprivate var isVisibleASCII: Bool { utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}

extension AuthorizationFailure {
    fileprivate init(_ reply: SpotifyReply, hiding secrets: [String]) {
        let error = ServerError(reply)
        let text = error.message ?? ""
        // The secrets are replaced in the whole text: a shortened text may end in a part of one.
        let line = ServerMessage.line(secrets.reduce(text) { $1.isEmpty ? $0 : $0.replacing(scalars: $1, with: "…") })
        let reason = line.isEmpty ? "status \(reply.status.code)" : line
        switch reply.status.code {
        case 429:
            self = .rateLimited(retryAfter: reply.retryAfter)
        case 408:
            self = .unavailable(reason)
        case 400..<500 where error.code == "invalid_grant":
            self = .grantRefused(reason)
        case 400..<500:
            self = .requestRefused(reason)
        default:
            self = .unavailable("the server answered with status \(reply.status.code)")
        }
    }
}
