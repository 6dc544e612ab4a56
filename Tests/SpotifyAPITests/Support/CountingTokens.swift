import Music
import Synchronization

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
