import Authorization
import Music
import SpotifyAPI
import SpotifyTestSupport

/// An account of the simulator that has consented, with tokens that are renewed as they are refused.
actor ConnectedAccount: AccessTokens {
    private let server: SpotifyAccounts
    private var refreshToken: String
    private var token: AccessToken
    private(set) var renewals = 0

    init(_ spotify: SimulatedSpotify) async throws {
        server = spotify.accounts
        let verifier = CodeVerifier()
        let url = server.authorizationURL(
            for: AuthorizationRequest(
                state: "s", codeChallenge: verifier.challenge, redirectURI: SimulatedSpotify.redirectURI))
        guard case .approved(let code) = try await spotify.decide("approve", at: url).answer else {
            throw AuthorizationFailure.unavailable("the simulator denied what was approved")
        }
        let grant = try await server.exchange(
            code: code, verifier: verifier, redirectURI: SimulatedSpotify.redirectURI)
        refreshToken = grant.refreshToken ?? ""
        token = AccessToken(value: grant.accessToken, generation: 1)
    }

    func current() -> AccessToken { token }

    func newer(thanRefused generation: Int) async throws -> AccessToken {
        if token.generation <= generation {
            let grant = try await server.refresh(refreshToken)
            refreshToken = grant.refreshToken ?? refreshToken
            token = AccessToken(value: grant.accessToken, generation: generation + 1)
            renewals += 1
        }
        return token
    }
}
