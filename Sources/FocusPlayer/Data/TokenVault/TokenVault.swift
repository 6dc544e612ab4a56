package import Authorization
package import Foundation
internal import Sodium
internal import SystemSupport

/// Stores the tokens and the open requests for consent of all sessions in encrypted files. Only one process writes;
/// other processes use ``TokenVaultReader``.
///
/// The directory has the mode 0700. It contains the encrypted files `tokens`, `pending` and `renewals`, their `key`,
/// and `lock`, each with the mode 0600. A process of the same user can read the key and therefore the tokens. The
/// encryption protects the tokens only if a file is copied without the key.
package struct TokenVault: Sendable {
    private let directory: VaultDirectory
    private let key: ChaChaPoly.Key
    private let lock: FileLock
    private let queue: FileQueue

    /// Opens the vault for writing, and creates it if it does not exist.
    /// - Throws: `TokenStoreError`; at once with the code `vault.taken` if another process has opened it.
    package static func open(directory path: String) async throws -> TokenVault {
        let queue = FileQueue("segue.token-vault")
        return try await queue.run { try TokenVault(directory: VaultDirectory(path), queue: queue) }
    }

    private init(directory: VaultDirectory, queue: FileQueue) throws {
        try directory.make()
        lock = try directory.lock()
        directory.removeLeftovers()
        key = try directory.keyOrNew()
        self.directory = directory
        self.queue = queue
    }
}

extension TokenVault: TokenStore {
    package func load(of session: String) async throws -> StoredTokens {
        try await queue.run { [directory] in try directory.accounts()[session] }
    }

    @discardableResult
    package func save(_ tokens: SpotifyTokens, of session: String) async throws -> StoredTokens {
        try await advance(session, to: tokens)
    }

    @discardableResult
    package func clear(_ session: String) async throws -> StoredTokens {
        try await advance(session, to: nil)
    }

    @discardableResult
    package func recordFailedRenewal(of session: String, at date: Date) async throws -> StoredTokens {
        try await change(session) { $0.followedByFailedRenewal(at: date) }
    }

    package func checkRoom(for session: String) async throws {
        try await queue.run { [directory] in
            guard try directory.accounts().hasRoom(for: session) else { throw VaultFailure.fullOfAccounts }
        }
    }

    /// Writes the session's next generation.
    private func advance(_ session: String, to tokens: SpotifyTokens?) async throws -> StoredTokens {
        try await change(session) { $0.followed(by: tokens) }
    }

    /// Changes the content of a session, in one operation on the serial queue.
    private func change(
        _ session: String, _ change: @escaping @Sendable (StoredTokens) -> StoredTokens
    ) async throws -> StoredTokens {
        try await queue.run { [directory, key] in
            var accounts = try directory.accounts()
            try accounts.store(change(accounts[session]), of: session)
            try directory.tokens.write(accounts, with: key)
            return accounts[session]
        }
    }
}

extension TokenVault: PendingAuthorizationStore {
    package func pending() async throws -> [PendingAuthorization] {
        try await queue.run { [directory] in try directory.pending.read()?.requests ?? [] }
    }

    @discardableResult
    package func changePending<Result: Sendable>(
        _ change: @escaping @Sendable (inout [PendingAuthorization]) -> Result
    ) async throws -> Result {
        try await queue.run { [directory, key] in
            let before = try directory.pending.read()?.requests ?? []
            var after = before
            let result = change(&after)
            if after != before { try directory.pending.write(PendingFile(after, replacing: before), with: key) }
            return result
        }
    }

    package func renewals() async throws -> [PendingRenewal] {
        try await queue.run { [directory] in try directory.renewals.read()?.renewals ?? [] }
    }

    package func begin(_ renewal: PendingRenewal) async throws {
        try await changeRenewals { $0.filter { $0.session != renewal.session } + [renewal] }
    }

    package func end(_ renewal: PendingRenewal) async throws {
        try await changeRenewals { $0.filter { $0 != renewal } }
    }

    private func changeRenewals(_ change: @escaping @Sendable ([PendingRenewal]) -> [PendingRenewal]) async throws {
        try await queue.run { [directory, key] in
            let before = try directory.renewals.read()?.renewals ?? []
            let after = change(before)
            if after != before { try directory.renewals.write(RenewalsFile(after, replacing: before), with: key) }
        }
    }
}
