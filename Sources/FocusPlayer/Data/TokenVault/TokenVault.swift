package import Authorization
internal import Sodium
internal import SystemSupport

/// Keeps tokens and unanswered requests for consent in encrypted files: the side that writes.
///
/// In one 0700 directory lie `tokens` and `pending`, sealed, `key`, which seals them, and `lock`; each file is 0600.
/// A process that can read as this user can read the key too: the vault keeps tokens out of backups, logs and the hands
/// of whoever gets hold of one file.
package struct TokenVault: Sendable {
    private let directory: VaultDirectory
    private let key: ChaChaPoly.Key
    private let lock: FileLock
    private let queue: FileQueue

    /// Opens the vault for writing, and makes it if it is not there.
    /// - Throws: `TokenStoreError`; at once with the code `vault.taken` if another process has it open.
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

    /// One piece of work on the serial queue: nothing comes between reading the generation and writing the next.
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
