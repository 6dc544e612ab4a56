package import Authorization
package import Music
internal import SystemSupport

/// Reads the tokens of sessions that another process writes.
package struct TokenVaultReader: Sendable {
    /// The interval at which a waiting reader reads the file.
    private static let pollInterval = Duration.milliseconds(25)

    private let directory: VaultDirectory
    private let queue = FileQueue("segue.token-vault")

    /// - Parameter directory: the directory of the vault. It need not exist yet.
    package init(directory: String) {
        self.directory = VaultDirectory(directory)
    }

    /// Returns the stored tokens of a session. Returns ``StoredTokens/none`` if nothing was ever stored.
    /// - Throws: `TokenStoreError`.
    package func read(_ session: String) async throws -> StoredTokens {
        try await queue.run { [directory] in try directory.accounts()[session] }
    }

    /// Waits until the vault contains a generation of the session above `generation`, or another number of failed
    /// renewals than `failures`.
    /// - Returns: the content with the higher generation or the other number. Nil if there is none after `timeout`.
    /// - Throws: `TokenStoreError`, `CancellationError`.
    package func waitForGeneration(
        after generation: Int, failures: Int, of session: String, timeout: Duration
    ) async throws -> StoredTokens? {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: timeout)
        while true {
            let stored = try await read(session)
            if stored.generation > generation || stored.failedRenewals != failures { return stored }
            let next = clock.now.advanced(by: Self.pollInterval)
            guard next < deadline else { return nil }
            try await clock.sleep(until: next)
        }
    }
}

/// The access tokens of one session, in a vault. Another process renews them.
package struct VaultAccessTokens: AccessTokens {
    private let vault: TokenVaultReader
    private let session: String
    private let timeout: Duration
    private let requestRenewal: @Sendable (Int) async throws -> Void

    /// - Parameters:
    ///   - timeout: the maximum time that a call waits for a renewed token. After this time the call throws
    ///     ``MusicError/renewalOverdue``.
    ///   - requestRenewal: requests that the writing process renews the token of this generation. It returns when that
    ///     process has published an error in answer, and is cancelled when the renewed token is in the vault.
    package init(
        vault: TokenVaultReader, session: String, timeout: Duration = .seconds(15),
        requestRenewal: @escaping @Sendable (_ generation: Int) async throws -> Void
    ) {
        self.vault = vault
        self.session = session
        self.timeout = timeout
        self.requestRenewal = requestRenewal
    }

    package func current() async throws -> AccessToken {
        let stored = try await reading { try await vault.read(session) }
        guard let token = stored.accessToken else { throw MusicError.notAuthorized }
        return token
    }

    package func newer(thanRefused generation: Int) async throws -> AccessToken {
        var stored = try await reading { try await vault.read(session) }
        if stored.generation <= generation {
            let renewed = try await reading { [stored] in try await renewal(of: stored, after: generation) }
            guard let renewed else { throw MusicError.renewalOverdue }
            guard renewed.generation > generation else { throw MusicError.renewalFailed }
            stored = renewed
        }
        guard let token = stored.accessToken else { throw MusicError.authorizationEnded }
        return token
    }

    /// Requests a renewal, and waits until it has succeeded or failed. If the vault cannot be written, its number of
    /// failed renewals stays the same, but the writing process publishes an error.
    /// - Returns: the content of the vault afterwards. Nil after ``timeout``.
    private func renewal(of stored: StoredTokens, after generation: Int) async throws -> StoredTokens? {
        try await withThrowingTaskGroup(of: StoredTokens?.self) { group in
            group.addTask {
                try await requestRenewal(generation)
                return try await vault.read(session)
            }
            group.addTask {
                try await vault.waitForGeneration(
                    after: generation, failures: stored.failedRenewals, of: session, timeout: timeout)
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func reading<Result>(_ operation: () async throws -> Result) async throws -> Result {
        do {
            return try await operation()
        } catch let error as TokenStoreError {
            throw MusicError.accessUnreadable(error.description)
        }
    }
}

extension StoredTokens {
    fileprivate var accessToken: AccessToken? {
        tokens.map { AccessToken(value: $0.accessToken, generation: generation) }
    }
}
