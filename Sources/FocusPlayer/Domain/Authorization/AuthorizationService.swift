internal import Contracts
package import EventBus
package import Foundation
internal import Sodium
internal import Vocabulary

/// Connects each session to a Spotify account of its own and renews its access.
///
/// An operation may be called again with the same arguments. Operations of one session read and change its data one at
/// a time, in order of arrival; those of different sessions do not wait for each other. No operation waits for a
/// request to Spotify that another one has sent, except an answer of a browser that arrives several times.
package actor AuthorizationService {
    private let server: any AuthorizationServer
    private let store: any TokenStore
    private let attempts: any PendingAuthorizationStore
    private let now: @Sendable () -> Date
    private let log: @Sendable (String) -> Void
    /// The operations that wait for their turn, by session. A session has an entry while one of its operations runs.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// The renewals that are under way, by session.
    private var renewing: [String: PendingRenewal] = [:]
    private var answers = ConsentAnswers()

    /// - Parameters:
    ///   - store: the store of the tokens. Nothing else may write to it.
    ///   - now: returns the current time, from which the expiry times of tokens and requests are computed.
    ///   - log: logs the details of an error that a person must not see, such as the path of a file.
    package init(
        server: any AuthorizationServer, store: any TokenStore, attempts: any PendingAuthorizationStore,
        now: @escaping @Sendable () -> Date = { Date() }, log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.server = server
        self.store = store
        self.attempts = attempts
        self.now = now
        self.log = log
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
    ///
    /// Tokens that Spotify gives for this request, or for a renewal that is under way, are not stored.
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

    /// The redirect URI of the newest open request. Nil if there is no open request.
    package func pendingRedirectURI() async throws -> String? {
        let now = self.now()
        return try await attempts.pending().last { $0.isOpen(at: now) }?.redirectURI
    }

    private func request(with state: String) async throws -> PendingAuthorization? {
        try await attempts.pending().first { $0.hasState(state) }
    }

    private func dropRequests(of session: String) async throws {
        try await attempts.changePending { $0.removeAll { $0.session == session } }
    }

    // MARK: - Consent

    /// Handles the browser's answer: checks the state, exchanges the code and stores the tokens.
    ///
    /// Publish the messages of the outcome, then call ``acknowledge(_:)``. An outcome with stored tokens that was not
    /// acknowledged is returned again by ``unannouncedOutcomes()``.
    ///
    /// An answer that arrives again has the outcome of the first one, without messages. An answer that belongs to no
    /// open request has no messages either: it may be forged, so only the browser that sent it shows the error.
    package func receive(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome {
        let state = callback.state
        if let settled = answers.settled(state) { return try await repeating(settled) }
        if answers.isUnderWay(state) {
            let first = try await withCheckedThrowingContinuation { answers.wait(for: state, $0) }
            return AuthorizationOutcome(repeating: first.failure)
        }
        answers.begin(state)
        do {
            let outcome = try await settle(callback)
            answers.end(state, .success(outcome))
            return outcome
        } catch {
            answers.end(state, .failure(error))
            throw error
        }
    }

    /// The outcome of an answer that has been handled before. An account that was disconnected since then is not shown
    /// as connected.
    private func repeating(_ settled: ConsentAnswers.Settled) async throws -> AuthorizationOutcome {
        guard settled.failure == nil else { return AuthorizationOutcome(repeating: settled.failure) }
        do {
            let isConnected = try await store.load(of: settled.session).tokens != nil
            return AuthorizationOutcome(repeating: isConnected ? nil : .unknownState)
        } catch let error as TokenStoreError {
            return AuthorizationOutcome(repeating: shown(error))
        }
    }

    private func settle(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome {
        do {
            // A forged answer must not end the request of the person who is giving consent.
            guard let attempt = try await request(with: callback.state) else { return .ofUnknownState }
            let session = attempt.session
            let early = try await exclusively(session) { try await outcomeBeforeExchange(callback) }
            if let early { return early }
            guard case .approved(let code) = callback.answer else { return .ofUnknownState }
            let grant: Result<TokenGrant, AuthorizationFailure> = try await answer {
                try await server.exchange(code: code, verifier: attempt.verifier, redirectURI: attempt.redirectURI)
            }
            return try await exclusively(session) { try await outcome(of: grant, for: callback.state) }
        } catch let error as TokenStoreError {
            return AuthorizationOutcome(repeating: shown(error))
        }
    }

    /// The outcome of an answer whose code is not exchanged. Nil if the code is to be exchanged.
    private func outcomeBeforeExchange(_ callback: AuthorizationCallback) async throws -> AuthorizationOutcome? {
        // A newer request of the session may have replaced the request in the meantime.
        guard let attempt = try await request(with: callback.state) else { return .ofUnknownState }
        guard attempt.isOpen(at: now()) else {
            return AuthorizationOutcome(ending: attempt, [ApplicationError.requestExpired])
        }
        return try await reporting(attempt) {
            let stored = try await store.load(of: attempt.session)
            if let generation = attempt.grantGeneration, generation <= stored.generation {
                // An earlier process has stored the tokens.
                return announcement(of: attempt, stored)
            }
            guard case .denied(let error) = callback.answer else { return nil }
            return AuthorizationOutcome(ending: attempt, [ApplicationError.denied(error)])
        }
    }

    /// Stores the tokens that were given for a code, unless the request was removed or replaced during the exchange.
    private func outcome(
        of grant: Result<TokenGrant, AuthorizationFailure>, for state: String
    ) async throws -> AuthorizationOutcome {
        guard let attempt = try await request(with: state) else { return .ofUnknownState }
        let outcome: AuthorizationOutcome? = try await reporting(attempt) {
            switch grant {
            case .success(let grant):
                guard let tokens = grant.tokens(at: now()) else {
                    return AuthorizationOutcome(ending: attempt, [ApplicationError.noRefreshToken])
                }
                var granted = attempt
                granted.grantGeneration = try await store.load(of: attempt.session).followed(by: tokens).generation
                try await attempts.changePending { [granted] pending in
                    pending = pending.map { $0.state == granted.state ? granted : $0 }
                }
                return announcement(of: granted, try await store.save(tokens, of: attempt.session))
            case .failure(let failure):
                // After a transient error the code may still be valid, and the person can reload the page.
                return failure.isTransient
                    ? AuthorizationOutcome(continuing: failure.whileConnecting, cause: attempt.cause)
                    : AuthorizationOutcome(ending: attempt, [failure.whileConnecting])
            }
        }
        return outcome ?? .ofUnknownState
    }

    /// Turns an error of the stores into an outcome that leaves the request open.
    private func reporting(
        _ attempt: PendingAuthorization, _ operation: () async throws -> AuthorizationOutcome?
    ) async throws -> AuthorizationOutcome? {
        do {
            return try await operation()
        } catch let error as TokenStoreError {
            return AuthorizationOutcome(continuing: shown(error), cause: attempt.cause)
        }
    }

    private func announcement(of attempt: PendingAuthorization, _ stored: StoredTokens) -> AuthorizationOutcome {
        let status: DomainEvent.SpotifyAuthorizationUpdated.Status =
            stored.tokens == nil ? .deauthorized : .authorized
        return AuthorizationOutcome(ending: attempt, [DomainEvent.SpotifyAuthorizationUpdated(status: status)])
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

    // MARK: - Renewal

    /// Decides about a request to renew the session's access token of `generation`, which Spotify has refused.
    ///
    /// If the token has been renewed already, or a renewal is under way or has failed since the request was made, there
    /// is no further renewal.
    /// - Returns: the renewal that the caller must pass to ``renew(_:)``, nil if there is none; and the messages to
    ///   publish.
    package func requestRenewal(
        of generation: Int, causedBy cause: Attributes
    ) async throws -> (renewal: PendingRenewal?, messages: [any Message]) {
        try await exclusively(cause.subject) {
            do {
                let stored = try await store.load(of: cause.subject)
                guard stored.tokens != nil else {
                    return (nil, ended(stored, after: generation))
                }
                guard stored.generation == generation, renewing[cause.subject] == nil,
                    !stored.hasFailedRenewal(since: cause.time, at: now())
                else { return (nil, []) }
                let renewal = PendingRenewal(generation: generation, cause: cause)
                try await attempts.begin(renewal)
                renewing[cause.subject] = renewal
                return (renewal, [])
            } catch let error as TokenStoreError {
                return (nil, [shown(error)])
            }
        }
    }

    /// Returns the renewals that an earlier process did not finish. Call this once, before any other operation, and
    /// pass them to ``renew(_:)``.
    package func unfinishedRenewals() async throws -> [PendingRenewal] {
        let renewals = try await attempts.renewals()
        for renewal in renewals { renewing[renewal.session] = renewal }
        return renewals
    }

    /// Renews an access token. Publish the messages of the outcome, then call ``acknowledge(_:)``.
    ///
    /// A successful renewal has no messages. After a failed one, the store's number of failed renewals has changed, or
    /// the tokens were removed.
    package func renew(_ renewal: PendingRenewal) async throws -> AuthorizationOutcome {
        let session = renewal.session
        defer { forget(renewal) }
        do {
            let before = try await exclusively(session) { try await store.load(of: session) }
            guard before.generation == renewal.generation, let tokens = before.tokens else {
                return AuthorizationOutcome(ending: renewal, ended(before, after: renewal.generation))
            }
            let grant: Result<TokenGrant, AuthorizationFailure> = try await answer {
                try await server.refresh(tokens.refreshToken)
            }
            return try await exclusively(session) {
                // A request that comes after the outcome begins another renewal.
                defer { forget(renewal) }
                return AuthorizationOutcome(ending: renewal, try await apply(grant, to: renewal))
            }
        } catch let error as TokenStoreError {
            return AuthorizationOutcome(ending: renewal, [shown(error)])
        }
    }

    /// Records that a renewal is not under way any more. A later renewal of the session may be.
    private func forget(_ renewal: PendingRenewal) {
        if renewing[renewal.session] == renewal { renewing[renewal.session] = nil }
    }

    /// Stores the result of a renewal, and returns the messages about it.
    private func apply(
        _ grant: Result<TokenGrant, AuthorizationFailure>, to renewal: PendingRenewal
    ) async throws -> [any Message] {
        let session = renewal.session
        let stored = try await store.load(of: session)
        // If the account was disconnected or connected anew in the meantime, the answer is of no use.
        guard stored.generation == renewal.generation, let tokens = stored.tokens else { return [] }
        switch grant {
        case .success(let grant):
            if let renewed = grant.tokens(replacing: tokens, at: now()) {
                try await store.save(renewed, of: session)
            }
            return []
        case .failure(let failure):
            guard case .grantRefused = failure else {
                try await store.recordFailedRenewal(of: session, at: now())
                return [failure.whileRefreshing]
            }
            try await store.clear(session)
            return [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized), failure.whileRefreshing]
        }
    }

    /// The messages for a request to renew a token of `generation` if the session has no tokens.
    ///
    /// The event is published again, because the process may have ended after it removed the tokens and before it
    /// published.
    private func ended(_ stored: StoredTokens, after generation: Int) -> [any Message] {
        stored.tokens == nil && stored.generation > generation
            ? [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)] : []
    }

    // MARK: - Outcomes and turns

    /// Removes the request or renewal that this outcome ended. Call this after the outcome's messages have been
    /// published.
    package func acknowledge(_ outcome: AuthorizationOutcome) async throws {
        switch outcome.ended {
        case .request(let attempt): try await attempts.changePending { $0.removeAll { $0.state == attempt.state } }
        case .renewal(let renewal): try await attempts.end(renewal)
        case nil: break
        }
    }

    /// The answer of the server. This is called outside of turns, because the server may be slow.
    private func answer(
        _ call: () async throws -> TokenGrant
    ) async throws -> Result<TokenGrant, AuthorizationFailure> {
        do {
            return .success(try await call())
        } catch let failure as AuthorizationFailure {
            return .failure(failure)
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
                return [shown(error)] + fallback
            }
        }
    }

    /// Runs one operation of a session at a time. The actor alone does not ensure this order: a second operation may
    /// start at an `await` of the first one.
    ///
    /// Cancellation does not end the wait of an operation. An operation does not call Spotify.
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

    /// The error to show to a person, without the paths of files. The details are logged.
    private func shown(_ error: TokenStoreError) -> ApplicationError {
        guard error.namesFile else {
            return ApplicationError(code: error.code, message: error.message, recovery: error.recovery)
        }
        log("the stored access to Spotify cannot be used: \(error)")
        return ApplicationError(
            code: error.code, message: "The stored access to Spotify cannot be used",
            recovery: "See the log of auth-service.")
    }
}
