internal import Contracts
package import EventBus
internal import Vocabulary

extension AuthorizationService {
    /// Answers "the access token of `generation` was refused", once however often it is said.
    ///
    /// A refresh that succeeds publishes nothing: whoever asked waits for the store's next generation, and an
    /// `authorized` would move both platforms to their first screen.
    package func refresh(generation: Int) async throws -> [any Message] {
        try await inTurn {
            let stored = try await store.load()
            guard let tokens = stored.tokens else {
                // Said again, as the process may have died between forgetting the tokens and telling so.
                return stored.generation > generation
                    ? [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)] : []
            }
            guard stored.generation == generation else { return [] }
            return try await renew(tokens)
        }
    }

    private func renew(_ tokens: SpotifyTokens) async throws -> [any Message] {
        do {
            let grant = try await server.refresh(tokens.refreshToken)
            if let renewed = grant.tokens(replacing: tokens, at: now()) {
                try await store.save(renewed)
            }
            return []
        } catch let failure as AuthorizationFailure {
            guard case .grantRefused = failure else { return [failure.whileRefreshing] }
            try await store.clear()
            return [
                DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized), failure.whileRefreshing,
            ]
        }
    }
}
