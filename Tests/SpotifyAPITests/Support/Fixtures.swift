import Authorization
import Music
import SpotifyAPI
import Synchronization

extension SpotifyHosts {
    /// Both of Spotify's hosts at one address.
    static func all(at base: String) -> SpotifyHosts {
        guard let url = BaseURL(base) else { preconditionFailure("the test's own server has no base URL") }
        return SpotifyHosts(accounts: url, api: url)
    }
}

extension RetryPolicy {
    /// Does not really wait.
    static let impatient = RetryPolicy(longestWait: .seconds(5), attempts: 3, sleep: { _ in })
}

/// Tokens of which one is current; each refused one makes the next.
final class CountingTokens: AccessTokens {
    private let generation = Mutex(1)
    private let isRenewable: Bool

    init(isRenewable: Bool = true) {
        self.isRenewable = isRenewable
    }

    func current() async throws -> AccessToken {
        token(generation.withLock(\.self))
    }

    func newer(thanRefused generation: Int) async throws -> AccessToken {
        guard isRenewable else { throw MusicError.authorizationEnded }
        return token(
            self.generation.withLock {
                $0 = max($0, generation + 1)
                return $0
            })
    }

    private func token(_ generation: Int) -> AccessToken {
        AccessToken(value: "token-secret-\(generation)", generation: generation)
    }
}
