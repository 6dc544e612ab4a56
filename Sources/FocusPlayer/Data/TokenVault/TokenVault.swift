package import Authorization
internal import Sodium
internal import SystemSupport

/// Stores tokens and open requests for consent in encrypted files. Only one process writes; other processes use
/// ``TokenVaultReader``.
///
/// The directory has the mode 0700. It contains the encrypted files `tokens` and `pending`, their `key`, and `lock`,
/// each with the mode 0600. A process of the same user can read the key and therefore the tokens. The encryption
/// protects the tokens only if a file is copied without the key.
package struct TokenVault: Sendable {
    private let directory: VaultDirectory
    private let key: ChaChaPoly.Key
    private let lock: FileLock
    private let queue: FileQueue

    /// Opens the vault for writing, and creates it if it does not exist.
    /// - Throws: `TokenStoreError`; at once with the code `vault.taken` if another process has opened it.
    package static func open(directory path: String) async throws -> TokenVault {
        let queue = FileQueue()
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
    package func load() async throws -> StoredTokens {
        try await queue.run { [directory] in try directory.tokens.read() ?? .none }
    }

    @discardableResult
    package func save(_ tokens: SpotifyTokens) async throws -> StoredTokens {
        try await advance(to: tokens)
    }

    @discardableResult
    package func clear() async throws -> StoredTokens {
        try await advance(to: nil)
    }

    /// Writes the next generation, in one operation on the serial queue.
    private func advance(to tokens: SpotifyTokens?) async throws -> StoredTokens {
        try await queue.run { [directory, key] in
            let next = try (directory.tokens.read() ?? .none).followed(by: tokens)
            try directory.tokens.write(next, with: key)
            return next
        }
    }
}

extension TokenVault: PendingAuthorizationStore {
    package func pending() async throws -> [PendingAuthorization] {
        try await queue.run { [directory] in try directory.pending.read() ?? [] }
    }

    package func replacePending(with authorizations: [PendingAuthorization]) async throws {
        try await queue.run { [directory, key] in try directory.pending.write(authorizations, with: key) }
    }
}
