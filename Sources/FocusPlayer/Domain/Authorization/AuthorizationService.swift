package import Contracts
package import EventBus
package import Foundation
internal import Sodium
internal import Vocabulary

/// Connects the app to a Spotify account and renews its access.
///
/// An operation may be called again with the same arguments. Operations on the tokens run one at a time, in order of
/// arrival.
package actor AuthorizationService {
    private let server: any AuthorizationServer
    private let store: any TokenStore
    private let attempts: any PendingAuthorizationStore
    private let now: @Sendable () -> Date
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - store: the store of the tokens. Nothing else may write to it.
    ///   - now: returns the current time, from which the expiry times of tokens are computed.
    package init(
        server: any AuthorizationServer, store: any TokenStore, attempts: any PendingAuthorizationStore,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.server = server
        self.store = store
        self.attempts = attempts
        self.now = now
    }

    /// Reports to an app that was launched whether an account is connected.
    ///
    /// The access token may have expired.
    package func launched() async throws -> [any Message] {
        try await inTurn(whenUnreadable: [DomainEvent.SpotifyAuthorizationUpdated(status: .unauthorized)]) {
            let isConnected = try await store.load().tokens != nil
            return [DomainEvent.SpotifyAuthorizationUpdated(status: isConnected ? .authorized : .unauthorized)]
        }
    }

    /// Disconnects the account, and removes the session's open request for consent.
    package func deauthorize(causedBy cause: Attributes) async throws -> [any Message] {
        try await inTurn {
            if try await store.load().tokens != nil {
                try await store.clear()
            }
            let others = try await attempts.pending().filter { $0.cause.subject != cause.subject }
            try await attempts.replacePending(with: others)
            return [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)]
        }
    }

    /// Starts a request for consent, and returns the event with the URL at which a person gives the consent.
    ///
    /// A newer request of a session replaces the older one. If the same command is handled again with the same
    /// `redirectURI` while its request is open, the URL is the same.
    /// - Parameter redirectURI: the address at which this process receives the answer.
    package func requestAuthorization(
        causedBy cause: Attributes, redirectURI: String
    ) async throws -> [any Message] {
        try await inTurn {
            let kept = try await attempts.pending()
            let attempt =
                kept.first { $0.cause.id == cause.id && $0.redirectURI == redirectURI }
                ?? PendingAuthorization(
                    state: Base64URL.encode(RandomBytes.make(32)), verifier: CodeVerifier(), redirectURI: redirectURI,
                    cause: cause)
            try await attempts.replacePending(
                with: kept.filter { $0.cause.subject != cause.subject } + [attempt])
            return [DomainEvent.SpotifyAuthURLGenerated(url: server.authorizationURL(for: attempt.request))]
        }
    }

    /// Handles the browser's answer: checks the state, exchanges the code and stores the tokens.
    ///
    /// Publish the messages of the outcome, then call ``acknowledge(_:)``. An outcome with stored tokens that was not
    /// acknowledged is returned again by ``unannouncedOutcomes()``.
    package func receive(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome {
        try await exclusively {
            // A forged answer must not end the request of the person who is giving consent.
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

    /// Removes the request that this outcome ended. Call this after the outcome's messages have been published.
    package func acknowledge(_ outcome: AuthorizationOutcome) async throws {
        guard let ended = outcome.ended else { return }
        try await exclusively {
            try await attempts.replacePending(with: attempts.pending().filter { $0.state != ended })
        }
    }

    /// Returns the outcomes whose tokens an earlier process stored, but whose messages it may not have published. Call
    /// this once, before any other operation.
    package func unannouncedOutcomes() async throws -> [AuthorizationOutcome] {
        try await exclusively {
            let stored = try await store.load()
            var kept = try await attempts.pending()
            // Tokens with a generation above the generation of the store were never stored. The generation is removed
            // from the request, because a later change will use it for other tokens.
            for index in kept.indices where kept[index].grantGeneration.map({ $0 > stored.generation }) ?? false {
                kept[index].grantGeneration = nil
            }
            try await attempts.replacePending(with: kept)
            return kept.filter { $0.grantGeneration != nil }.map { announcement(of: $0, stored) }
        }
    }

    /// The redirect URI of the newest open request. Nil if there is no open request.
    package func pendingRedirectURI() async throws -> String? {
        try await attempts.pending().last?.redirectURI
    }

    /// Renews the access token of `generation`, which Spotify has refused. If this token has been renewed already, the
    /// call has no effect.
    ///
    /// A successful refresh returns no messages.
    package func refresh(generation: Int) async throws -> [any Message] {
        try await inTurn {
            let stored = try await store.load()
            guard let tokens = stored.tokens else {
                // The event is published again, because the process may have ended after it removed the tokens and
                // before it published.
                return stored.generation > generation
                    ? [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)] : []
            }
            guard stored.generation == generation else { return [] }
            return try await renew(tokens)
        }
    }

    private func settle(
        _ attempt: PendingAuthorization, with answer: AuthorizationCallback.Answer
    ) async throws -> AuthorizationOutcome {
        let stored = try await store.load()
        if let generation = attempt.grantGeneration, generation <= stored.generation {
            // The page was loaded twice. The code has been used already, and its tokens are stored.
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
            // After a transient error the code may still be valid, and the person can reload the page.
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

    /// Runs one operation at a time. Turns an error of the stores into an ``ApplicationError``.
    private func inTurn(
        whenUnreadable fallback: [any Message] = [], _ operation: () async throws -> [any Message]
    ) async throws -> [any Message] {
        try await exclusively {
            do {
                return try await operation()
            } catch let error as TokenStoreError {
                return [error.applicationError] + fallback
            }
        }
    }

    /// Runs one operation at a time. The actor alone does not ensure this order: a second operation may start at an
    /// `await` of the first one.
    ///
    /// Cancellation does not end the wait of an operation.
    private func exclusively<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        }
        isBusy = true
        defer {
            if waiting.isEmpty {
                isBusy = false
            } else {
                // `isBusy` stays true while the turn passes to the next operation, so that no other one can start.
                waiting.removeFirst().resume()
            }
        }
        try Task.checkCancellation()
        return try await operation()
    }
}

extension TokenStoreError {
    fileprivate var applicationError: ApplicationError {
        ApplicationError(code: code, message: message, recovery: recovery)
    }
}

/// The outcome of a consent. The caller publishes its messages and then acknowledges the outcome.
package struct AuthorizationOutcome: Sendable {
    /// The state of the request that has ended. Nil if the request is still open or unknown.
    fileprivate let ended: String?
    /// The command that started the request. Nil if the answer does not belong to an open request.
    package let cause: Attributes?
    package let messages: [any Message]

    init(ending attempt: PendingAuthorization, _ messages: [any Message]) {
        ended = attempt.state
        cause = attempt.cause
        self.messages = messages
    }

    init(continuing attempt: PendingAuthorization?, _ error: ApplicationError) {
        ended = nil
        cause = attempt?.cause
        messages = [error]
    }

    /// The error to show in the browser. Nil if the messages contain no error.
    package var failure: ApplicationError? {
        messages.lazy.compactMap { $0 as? ApplicationError }.first
    }
}
