import Authorization
import SpotifyAPI
import Synchronization

/// Spotify's authorization server, with every secret that goes to it or comes from it written down.
final class OverheardServer: AuthorizationServer {
    private let server: SpotifyAccounts
    private let heard = Mutex<Set<String>>([])

    init(_ server: SpotifyAccounts) {
        self.server = server
    }

    var secrets: Set<String> { heard.withLock(\.self) }

    func authorizationURL(for request: AuthorizationRequest) -> String {
        server.authorizationURL(for: request)
    }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        note([code, verifier.value])
        return note(try await server.exchange(code: code, verifier: verifier, redirectURI: redirectURI))
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        note([refreshToken])
        return note(try await server.refresh(refreshToken))
    }

    private func note(_ grant: TokenGrant) -> TokenGrant {
        note([grant.accessToken, grant.refreshToken].compactMap(\.self))
        return grant
    }

    private func note(_ secrets: [String]) {
        heard.withLock { $0.formUnion(secrets) }
    }
}
