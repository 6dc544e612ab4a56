package import Contracts
package import EventBus
package import Foundation
internal import Sodium
internal import Vocabulary

/// Connects each session to a Spotify account of its own and renews its access.
///
/// An operation may be called again with the same arguments. Operations of one session run one at a time, in order of
/// arrival; those of different sessions do not wait for each other.
package actor AuthorizationService {
    private let server: any AuthorizationServer
    private let store: any TokenStore
    private let attempts: any PendingAuthorizationStore
    private let now: @Sendable () -> Date
    /// The operations that wait for their turn, by session. A session has an entry while one of its operations runs.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// - Parameters:
    ///   - store: the store of the tokens. Nothing else may write to it.
    ///   - now: returns the current time, from which the expiry times of tokens and requests are computed.
    package init(
        server: any AuthorizationServer, store: any TokenStore, attempts: any PendingAuthorizationStore,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.server = server
        self.store = store
        self.attempts = attempts
        self.now = now
    }

    /// Reports to an app that was launched whether an account of its session is connected.
    ///
    /// The access token may have expired.
    package func launched(_ session: String) async throws -> [any Message] {
        try await inTurn(of: session, whenUnreadable: [DomainEvent.SpotifyAuthorizationUpdated(status: .unauthorized)])
        {
            let isConnected = try await store.load(of: session).tokens != nil
            return [DomainEvent.SpotifyAuthorizationUpdated(status: isConnected ? .authorized : .unauthorized)]
        }
    }

    /// Disconnects the session's account, and removes its open request for consent.
    package func deauthorize(_ session: String) async throws -> [any Message] {
        try await inTurn(of: session) {
            if try await store.load(of: session).tokens != nil {
                try await store.clear(session)
            }
            try await dropRequests(of: session)
            return [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)]
        }
    }

    /// Removes the open request for consent of a session that has ended. Its account stays connected.
    package func sessionEnded(_ session: String) async throws -> [any Message] {
        try await inTurn(of: session) {
            try await dropRequests(of: session)
            return []
        }
    }

    /// Starts a request for consent, and returns the event with the URL at which a person gives the consent.
    ///
    /// A newer request of a session replaces the older one. If the same command is handled again with the same
    /// `redirectURI` while its request is open, the URL is the same. A request that nobody answers expires.
    /// - Parameter redirectURI: the address at which this process receives the answer.
    package func requestAuthorization(
        causedBy cause: Attributes, redirectURI: String
    ) async throws -> [any Message] {
        try await inTurn(of: cause.subject) {
            try await store.checkRoom(for: cause.subject)
            let now = self.now()
            let new = PendingAuthorization(
                state: Base64URL.encode(RandomBytes.make(32)), verifier: CodeVerifier(), redirectURI: redirectURI,
                cause: cause, requestedAt: now)
            let attempt = try await attempts.changePending { pending in
                pending.removeAll { !$0.isOpen(at: now) }
                let attempt = pending.first { $0.cause.id == cause.id && $0.redirectURI == redirectURI } ?? new
                pending.removeAll { $0.session == attempt.session }
                pending.append(attempt)
                return attempt
            }
            return [DomainEvent.SpotifyAuthURLGenerated(url: server.authorizationURL(for: attempt.request))]
        }
    }

    /// Handles the browser's answer: checks the state, exchanges the code and stores the tokens.
    ///
    /// Publish the messages of the outcome, then call ``acknowledge(_:)``. An outcome with stored tokens that was not
    /// acknowledged is returned again by ``unannouncedOutcomes()``.
    package func receive(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome {
        // A forged answer must not end the request of the person who is giving consent.
        guard let session = try await request(with: callback.state)?.session else {
            return AuthorizationOutcome(continuing: nil, .unknownState)
        }
        return try await exclusively(session) {
            // Another answer, or a newer request of the session, may have ended the request in the meantime.
            guard let attempt = try await request(with: callback.state) else {
                return AuthorizationOutcome(continuing: nil, .unknownState)
            }
            guard attempt.isOpen(at: now()) else {
                return AuthorizationOutcome(ending: attempt, [ApplicationError.requestExpired])
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
        try await attempts.changePending { $0.removeAll { $0.state == ended } }
    }

    /// Returns the outcomes whose tokens an earlier process stored, but whose messages it may not have published. Call
    /// this once, before any other operation.
    package func unannouncedOutcomes() async throws -> [AuthorizationOutcome] {
        let now = self.now()
        let pending = try await attempts.pending()
        var granted: [(request: PendingAuthorization, stored: StoredTokens)] = []
        for request in pending where request.grantGeneration != nil {
            granted.append((request, try await store.load(of: request.session)))
        }
        // Tokens with a generation above the generation of the store were never stored. The generation is removed
        // from the request, because a later change will use it for other tokens.
        let lost = Set(granted.filter { $0.request.grantGeneration ?? 0 > $0.stored.generation }.map(\.request.state))
        try await attempts.changePending { pending in
            for index in pending.indices where lost.contains(pending[index].state) {
                pending[index].grantGeneration = nil
            }
            pending.removeAll { !$0.isOpen(at: now) }
        }
        return granted.filter { !lost.contains($0.request.state) }.map { announcement(of: $0.request, $0.stored) }
    }

    /// The redirect URI of the newest open request. Nil if there is no open request.
    package func pendingRedirectURI() async throws -> String? {
        let now = self.now()
        return try await attempts.pending().last { $0.isOpen(at: now) }?.redirectURI
    }

    /// Renews the session's access token of `generation`, which Spotify has refused. If this token has been renewed
    /// already, the call has no effect.
    ///
    /// A successful refresh returns no messages.
    package func refresh(generation: Int, of session: String) async throws -> [any Message] {
        try await inTurn(of: session) {
            let stored = try await store.load(of: session)
            guard let tokens = stored.tokens else {
                // The event is published again, because the process may have ended after it removed the tokens and
                // before it published.
                return stored.generation > generation
                    ? [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)] : []
            }
            guard stored.generation == generation else { return [] }
            return try await renew(tokens, of: session)
        }
    }

    private func request(with state: String) async throws -> PendingAuthorization? {
        try await attempts.pending().first { $0.hasState(state) }
    }

    private func dropRequests(of session: String) async throws {
        try await attempts.changePending { $0.removeAll { $0.session == session } }
    }

    private func settle(
        _ attempt: PendingAuthorization, with answer: AuthorizationCallback.Answer
    ) async throws -> AuthorizationOutcome {
        let stored = try await store.load(of: attempt.session)
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
            try await attempts.changePending { [granted] pending in
                pending = pending.map { $0.state == granted.state ? granted : $0 }
            }
            return announcement(of: granted, try await store.save(tokens, of: attempt.session))
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

    private func renew(_ tokens: SpotifyTokens, of session: String) async throws -> [any Message] {
        do {
            let grant = try await server.refresh(tokens.refreshToken)
            if let renewed = grant.tokens(replacing: tokens, at: now()) {
                try await store.save(renewed, of: session)
            }
            return []
        } catch let failure as AuthorizationFailure {
            guard case .grantRefused = failure else { return [failure.whileRefreshing] }
            try await store.clear(session)
            return [
                DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized), failure.whileRefreshing,
            ]
        }
    }

    /// Runs one operation of a session at a time. Turns an error of the stores into an ``ApplicationError``.
    private func inTurn(
        of session: String, whenUnreadable fallback: [any Message] = [], _ operation: () async throws -> [any Message]
    ) async throws -> [any Message] {
        try await exclusively(session) {
            do {
                return try await operation()
            } catch let error as TokenStoreError {
                return [error.applicationError] + fallback
            }
        }
    }

    /// Runs one operation of a session at a time. The actor alone does not ensure this order: a second operation may
    /// start at an `await` of the first one.
    ///
    /// Cancellation does not end the wait of an operation.
    private func exclusively<Result: Sendable>(
        _ session: String, _ operation: () async throws -> Result
    ) async throws -> Result {
        if waiting[session] == nil {
            waiting[session] = []
        } else {
            await withCheckedContinuation { waiting[session, default: []].append($0) }
        }
        defer {
            if waiting[session]?.isEmpty ?? true {
                waiting[session] = nil
            } else {
                // The entry stays while the turn passes to the next operation, so that no other one can start.
                waiting[session]?.removeFirst().resume()
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
