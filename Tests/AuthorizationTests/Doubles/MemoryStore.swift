import Authorization

/// Keeps tokens and attempts in memory. Outlives a service, as a vault outlives a process.
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

    /// The next save never happens, as if the process were killed just before.
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
