import Authorization
import EventBus
import Foundation
import Support

/// A server with a prepared answer. It records the requests.
actor ScriptedServer: AuthorizationServer {
    private(set) var exchanges: [(code: String, verifier: CodeVerifier, redirectURI: String)] = []
    private(set) var refreshes: [String] = []
    private var answer: Result<TokenGrant, AuthorizationFailure>
    private var release: Latch?
    /// Opened by the first request.
    nonisolated let isAsked = Latch()

    /// - Parameter release: opened when the answers may be sent. Nil if answers do not wait.
    init(_ answer: Result<TokenGrant, AuthorizationFailure> = .success(.fixture()), release: Latch? = nil) {
        self.answer = answer
        self.release = release
    }

    func answer(_ answer: Result<TokenGrant, AuthorizationFailure>) {
        self.answer = answer
    }

    /// Answers further requests at once.
    func answerAtOnce() {
        release = nil
    }

    nonisolated func authorizationURL(for request: AuthorizationRequest) -> String {
        "https://accounts.example/\(request.state)/\(request.codeChallenge)"
    }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        exchanges.append((code, verifier, redirectURI))
        await waitUntilReleased()
        return try answer.get()
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        refreshes.append(refreshToken)
        await waitUntilReleased()
        return try answer.get()
    }

    private func waitUntilReleased() async {
        isAsked.open()
        await release?.waitUntilOpenOrCancelled()
    }
}

/// Stores tokens and requests in memory. It outlives a service, as a vault outlives a process.
actor MemoryStore: TokenStore, PendingAuthorizationStore {
    private var stored: [String: StoredTokens]
    private var attempts: [PendingAuthorization] = []
    private var unfinished: [PendingRenewal] = []
    private var failure: TokenStoreError?
    private var diesBeforeSaving = false
    private var isFull = false

    /// - Parameter stored: the tokens of the session `default`.
    init(_ stored: StoredTokens = .none) {
        self.stored = [Session.default: stored]
    }

    /// Refuses accounts from now on.
    func fill() {
        isFull = true
    }

    func checkRoom(for session: String) throws {
        if isFull { throw TokenStoreError(code: "vault.full", message: "the vault is full", recovery: "Empty it.") }
    }

    func fail(with error: TokenStoreError?) {
        failure = error
    }

    /// Makes the next save fail, as if the process were killed just before the save.
    func dieBeforeSaving() {
        diesBeforeSaving = true
    }

    func load(of session: String) throws -> StoredTokens {
        if let failure { throw failure }
        return stored[session] ?? .none
    }

    func save(_ tokens: SpotifyTokens, of session: String) throws -> StoredTokens {
        if let failure { throw failure }
        if diesBeforeSaving {
            diesBeforeSaving = false
            throw CancellationError()
        }
        return change(session, to: tokens)
    }

    func clear(_ session: String) throws -> StoredTokens {
        change(session, to: nil)
    }

    func recordFailedRenewal(of session: String, at date: Date) throws -> StoredTokens {
        if let failure { throw failure }
        let next = (stored[session] ?? .none).followedByFailedRenewal(at: date)
        stored[session] = next
        return next
    }

    private func change(_ session: String, to tokens: SpotifyTokens?) -> StoredTokens {
        let next = (stored[session] ?? .none).followed(by: tokens)
        stored[session] = next
        return next
    }

    func pending() throws -> [PendingAuthorization] {
        if let failure { throw failure }
        return attempts
    }

    func changePending<Result: Sendable>(
        _ change: @escaping @Sendable (inout [PendingAuthorization]) -> Result
    ) throws -> Result {
        if let failure { throw failure }
        return change(&attempts)
    }

    func renewals() throws -> [PendingRenewal] {
        if let failure { throw failure }
        return unfinished
    }

    func begin(_ renewal: PendingRenewal) throws {
        if let failure { throw failure }
        unfinished.removeAll { $0.session == renewal.session }
        unfinished.append(renewal)
    }

    func end(_ renewal: PendingRenewal) throws {
        if let failure { throw failure }
        unfinished.removeAll { $0 == renewal }
    }
}

/// The session `default`.
extension MemoryStore {
    func load() throws -> StoredTokens { try load(of: Session.default) }
    func save(_ tokens: SpotifyTokens) throws -> StoredTokens { try save(tokens, of: Session.default) }
}

extension AuthorizationService {
    func launched() async throws -> [any Message] { try await launched(Session.default) }

    /// Handles a command to renew a token, as the host does: until the outcome is published.
    func refresh(
        generation: Int, of session: String = Session.default, at date: Date = Date()
    ) async throws -> [any Message] {
        let (renewal, messages) = try await requestRenewal(
            of: generation, causedBy: .renewal(subject: session, at: date))
        guard let renewal else { return messages }
        let outcome = try await renew(renewal)
        try await acknowledge(outcome)
        return messages + outcome.messages
    }
}
