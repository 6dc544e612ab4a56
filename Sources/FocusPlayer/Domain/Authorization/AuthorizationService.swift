package import Contracts
package import EventBus
package import Foundation
internal import Sodium
internal import Vocabulary

/// Connects the app with a Spotify account, and keeps it connected.
///
/// Each operation returns what is to be published, and is safe to repeat: a process that dies after an operation and
/// before its messages are journalled calls it again. Operations take turns, in order of arrival, so that a refresh, a
/// log-out and the browser's answer never work on tokens that another of them is replacing.
package actor AuthorizationService {
    private let server: any AuthorizationServer
    private let store: any TokenStore
    private let attempts: any PendingAuthorizationStore
    private let now: @Sendable () -> Date
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - store: nobody else may write to it.
    ///   - now: the clock that tokens expire by.
    package init(
        server: any AuthorizationServer, store: any TokenStore, attempts: any PendingAuthorizationStore,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.server = server
        self.store = store
        self.attempts = attempts
        self.now = now
    }

    /// A device is attached: tells whether an account is connected.
    ///
    /// The access token may have expired since; the first call that Spotify refuses asks for the next one.
    package func launched() async throws -> [any Message] {
        try await inTurn(whenUnreadable: [DomainEvent.SpotifyAuthorizationUpdated(status: .unauthorized)]) {
            let isConnected = try await store.load().tokens != nil
            return [DomainEvent.SpotifyAuthorizationUpdated(status: isConnected ? .authorized : .unauthorized)]
        }
    }

    /// Forgets the account, and the session's unanswered request for consent.
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
                    state: Base64URL.encode(RandomBytes.make(32)), verifier: CodeVerifier(), redirectURI: redirectURI,
                    cause: cause)
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

    /// Lets one operation at a time through. What the stores cannot do becomes an ``ApplicationError``.
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

    /// An actor alone would let a second operation in at the first one's `await`.
    ///
    /// Those who wait are not cancelled in the queue: each turn is bounded by the deadline of the server's HTTP calls.
    private func exclusively<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        }
        isBusy = true
        defer {
            if waiting.isEmpty {
                isBusy = false
            } else {
                // The turn is handed over while `isBusy` stays set: nobody slips in between.
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

/// What came of a consent, to be published and then acknowledged.
package struct AuthorizationOutcome: Sendable {
    /// The state of the attempt that ended; nil if it goes on, or none was meant.
    fileprivate let ended: String?
    /// The command that began it; nil if the answer belongs to no attempt that is known.
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

    /// What to tell the person in the browser; nil if all went well.
    package var failure: ApplicationError? {
        messages.lazy.compactMap { $0 as? ApplicationError }.first
    }
}
