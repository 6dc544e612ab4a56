internal import Authorization

/// What lies in the vault's directory, beside the key and the lock.
struct TokenVaultFiles: Sendable {
    let tokens: SealedFile<StoredTokens>
    let pending: SealedFile<[PendingAuthorization]>
    private let directory: VaultDirectory

    init(_ directory: VaultDirectory) {
        self.directory = directory
        tokens = SealedFile("tokens", in: directory)
        pending = SealedFile("pending", in: directory)
    }

    func readTokens() throws -> StoredTokens {
        try tokens.read(with: key) ?? .none
    }

    func readPending() throws -> [PendingAuthorization] {
        try pending.read(with: key) ?? []
    }

    private func key() throws -> VaultKey {
        guard let key = try VaultKey.load(from: directory) else {
            throw VaultFailure.missingKey(directory.file(VaultKey.fileName))
        }
        return key
    }
}
