internal import Contracts
package import EventBus
internal import Vocabulary

extension AuthorizationService {
    /// Begins a request for consent: the device that `cause` came from is to open the URL.
    ///
    /// The newest request of a session replaces the one before. The same command gives the same URL again.
    /// - Parameter redirectURI: where this process listens for the answer.
    package func requestAuthorization(
        causedBy cause: Attributes, redirectURI: String
    ) async throws -> [any Message] {
        try await inTurn {
            let kept = try await attempts.pending()
            let attempt =
                kept.first { $0.cause.id == cause.id && $0.redirectURI == redirectURI }
                ?? PendingAuthorization(
                    state: RandomText.make(bytes: 32), verifier: CodeVerifier(), redirectURI: redirectURI, cause: cause)
            try await attempts.replacePending(
                with: kept.filter { $0.cause.subject != cause.subject } + [attempt])
            return [DomainEvent.SpotifyAuthURLGenerated(url: server.authorizationURL(for: attempt.request))]
        }
    }

    /// Takes the browser's answer: checks the state, trades the code, keeps the tokens.
    ///
    /// Publish the outcome's messages, then ``acknowledge(_:)`` it; what was not acknowledged comes again from
    /// ``unannouncedOutcomes()``.
    package func receive(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome {
        try await exclusively {
            // A stranger's guess must not end the attempt of the person who is still consenting.
            guard let attempt = try await attempts.pending().first(where: { $0.hasState(callback.state) }) else {
                return AuthorizationOutcome(continuing: nil, .unknownState)
            }
            do {
                return try await settle(attempt, with: callback.answer)
            } catch let error as TokenStoreError {
                return AuthorizationOutcome(continuing: attempt, error.applicationError)
            }
        }
    }

    /// Forgets the attempt that this outcome ended: its messages are published.
    package func acknowledge(_ outcome: AuthorizationOutcome) async throws {
        guard let ended = outcome.ended else { return }
        try await exclusively {
            try await attempts.replacePending(with: attempts.pending().filter { $0.state != ended })
        }
    }

    /// What an earlier incarnation kept tokens for and may have died before telling. Ask once, before anything else.
    package func unannouncedOutcomes() async throws -> [AuthorizationOutcome] {
        try await exclusively {
            let stored = try await store.load()
            var kept = try await attempts.pending()
            // A grant above the store's generation was never kept; a later refresh must not be taken for it.
            for index in kept.indices where kept[index].grantGeneration.map({ $0 > stored.generation }) ?? false {
                kept[index].grantGeneration = nil
            }
            try await attempts.replacePending(with: kept)
            return kept.filter { $0.grantGeneration != nil }.map { announcement(of: $0, stored) }
        }
    }

    /// Where the newest unanswered request expects its answer: listen there again after a restart.
    package func pendingRedirectURI() async throws -> String? {
        try await attempts.pending().last?.redirectURI
    }

    private func settle(
        _ attempt: PendingAuthorization, with answer: AuthorizationCallback.Answer
    ) async throws -> AuthorizationOutcome {
        let stored = try await store.load()
        if let generation = attempt.grantGeneration, generation <= stored.generation {
            // The page was loaded twice. The code is used up, and what it was good for is there.
            return announcement(of: attempt, stored)
        }
        switch answer {
        case .denied(let error):
            return AuthorizationOutcome(ending: attempt, [ApplicationError.denied(error)])
        case .approved(let code):
            return try await trade(code, for: attempt, after: stored)
        }
    }

    private func trade(
        _ code: String, for attempt: PendingAuthorization, after stored: StoredTokens
    ) async throws -> AuthorizationOutcome {
        do {
            let grant = try await server.exchange(
                code: code, verifier: attempt.verifier, redirectURI: attempt.redirectURI)
            guard let tokens = grant.tokens(at: now()) else {
                return AuthorizationOutcome(ending: attempt, [ApplicationError.noRefreshToken])
            }
            var granted = attempt
            granted.grantGeneration = stored.followed(by: tokens).generation
            try await attempts.replacePending(
                with: attempts.pending().map { $0.state == attempt.state ? granted : $0 })
            return announcement(of: granted, try await store.save(tokens))
        } catch let failure as AuthorizationFailure {
            // Nothing was traded: the page can be reloaded.
            return failure.isTransient
                ? AuthorizationOutcome(continuing: attempt, failure.whileConnecting)
                : AuthorizationOutcome(ending: attempt, [failure.whileConnecting])
        }
    }

    private func announcement(of attempt: PendingAuthorization, _ stored: StoredTokens) -> AuthorizationOutcome {
        let status: DomainEvent.SpotifyAuthorizationUpdated.Status =
            stored.tokens == nil ? .deauthorized : .authorized
        return AuthorizationOutcome(ending: attempt, [DomainEvent.SpotifyAuthorizationUpdated(status: status)])
    }
}
