import Authorization
import TestSupport

/// A server with a prepared answer. It records the requests.
actor ScriptedServer: AuthorizationServer {
    private(set) var exchanges: [(code: String, verifier: CodeVerifier, redirectURI: String)] = []
    private(set) var refreshes: [String] = []
    private var answer: Result<TokenGrant, AuthorizationFailure>
    private let gate: Gate?

    /// - Parameter gate: a gate at which each answer waits. Nil if answers do not wait.
    init(_ answer: Result<TokenGrant, AuthorizationFailure> = .success(.fixture()), gate: Gate? = nil) {
        self.answer = answer
        self.gate = gate
    }

    func answer(_ answer: Result<TokenGrant, AuthorizationFailure>) {
        self.answer = answer
    }

    nonisolated func authorizationURL(for request: AuthorizationRequest) -> String {
        "https://accounts.example/\(request.state)/\(request.codeChallenge)"
    }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        exchanges.append((code, verifier, redirectURI))
        await gate?.pass()
        return try answer.get()
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        refreshes.append(refreshToken)
        await gate?.pass()
        return try answer.get()
    }
}

/// Stores tokens and requests in memory. It outlives a service, as a vault outlives a process.
actor MemoryStore: TokenStore, PendingAuthorizationStore {
    private var stored: StoredTokens
    private var attempts: [PendingAuthorization] = []
    private var failure: TokenStoreError?
    private var diesBeforeSaving = false

    init(_ stored: StoredTokens = .none) {
        self.stored = stored
    }

    func fail(with error: TokenStoreError?) {
        failure = error
    }

    /// Makes the next save fail, as if the process were killed just before the save.
    func dieBeforeSaving() {
        diesBeforeSaving = true
    }

    func load() throws -> StoredTokens {
        if let failure { throw failure }
        return stored
    }

    func save(_ tokens: SpotifyTokens) throws -> StoredTokens {
        if let failure { throw failure }
        if diesBeforeSaving {
            diesBeforeSaving = false
            throw CancellationError()
        }
        stored = stored.followed(by: tokens)
        return stored
    }

    func clear() throws -> StoredTokens {
        stored = stored.followed(by: nil)
        return stored
    }

    func pending() throws -> [PendingAuthorization] {
        if let failure { throw failure }
        return attempts
    }

    func replacePending(with authorizations: [PendingAuthorization]) {
        attempts = authorizations
    }
}

/// Holds tasks until it is opened, and reports the arrival of a task.
actor Gate {
    private var isOpen = false
    private var hasVisitor = false
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        hasVisitor = true
        watchers.forEach { $0.resume() }
        watchers = []
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    func visited() async {
        guard !hasVisitor else { return }
        await withCheckedContinuation { watchers.append($0) }
    }

    func open() {
        isOpen = true
        held.forEach { $0.resume() }
        held = []
    }
}
