internal import Authorization
internal import Foundation
internal import Sodium
internal import Support
internal import SystemSupport

/// The directory of the vault. Its mode is 0700: other users have no access.
struct VaultDirectory: Sendable {
    let path: String

    init(_ path: String) {
        // Removes a final slash, which would appear as `//` in errors.
        self.path = path == "/" ? path : String(path.removing(suffix: "/") ?? path[...])
    }

    /// The tokens of all sessions. The process that holds the lock writes them; other processes read them.
    var tokens: SealedFile<AccountsFile> { SealedFile("tokens", in: self) }

    /// The requests for consent that are not finished yet.
    var pending: SealedFile<PendingFile> { SealedFile("pending", in: self) }

    /// The renewals of tokens that are not finished yet.
    var renewals: SealedFile<RenewalsFile> { SealedFile("renewals", in: self) }

    func accounts() throws -> AccountsFile { try tokens.read() ?? AccountsFile() }

    private var keyFile: VaultFile { VaultFile(path: file("key")) }

    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// The key of the vault's encrypted files. It is in a file of its own.
    /// - Throws: `TokenStoreError` if the key is missing or damaged, belongs to another user or is accessible to
    ///   others.
    func key() throws -> ChaChaPoly.Key {
        guard let bytes = try keyFile.read(), let key = ChaChaPoly.Key(bytes) else {
            throw VaultFailure.missingKey(keyFile.path)
        }
        return key
    }

    /// Returns the existing key, or creates one. Only the owner of the lock may call this.
    func keyOrNew() throws -> ChaChaPoly.Key {
        if try keyFile.read() != nil { return try key() }
        let key = ChaChaPoly.Key()
        try keyFile.replace(with: key.bytes)
        return key
    }

    /// Creates the directory if it does not exist.
    /// - Throws: `TokenStoreError` if it cannot be created, is not a directory, belongs to another user or is
    ///   accessible to others.
    func make() throws {
        do {
            try PrivateFolder.make(path)
        } catch {
            var status = stat()
            let isFolder = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            guard error.isInsecure else { throw VaultFailure.cannotUse(path, reason: error.message) }
            throw isFolder
                ? VaultFailure.exposed(path, mode: "700")
                : VaultFailure.cannotUse(path, reason: "it is not a directory")
        }
    }

    /// The lock of the only process that may write to the vault.
    /// - Throws: `TokenStoreError` at once if another process holds it.
    func lock() throws -> FileLock {
        do {
            guard let lock = try FileLock.acquire(file("lock")) else { throw VaultFailure.taken(path) }
            return lock
        } catch let error as SystemError {
            throw VaultFailure.cannotUse(error)
        }
    }

    /// Removes the unfinished files of a writer that was killed.
    ///
    /// Only the owner of the lock may call this.
    func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.ends(with: AtomicFile.temporarySuffix) {
            unlink(file(name))
        }
    }
}

/// A value in an encrypted file: `SEGUE-VAULT-1`, then nonce, ciphertext and tag of ChaCha20-Poly1305 (RFC 8439).
struct SealedFile<Value: Codable & Sendable>: Sendable {
    private let directory: VaultDirectory
    private let file: VaultFile
    /// The name of the file. It is authenticated with the content.
    private let purpose: Data
    private let magic = Data("SEGUE-VAULT-1\n".utf8)

    init(_ name: String, in directory: VaultDirectory) {
        self.directory = directory
        file = VaultFile(path: directory.file(name))
        purpose = Data(name.utf8)
    }

    /// Reads the value. Nil if the file does not exist.
    /// - Throws: `TokenStoreError`, which never contains the value.
    func read() throws -> Value? {
        guard let content = try file.read() else { return nil }
        let key = try directory.key()
        guard content.starts(with: magic) else { throw VaultFailure.corrupt(file.path) }
        do {
            return try JSONDecoder().decode(
                Value.self, from: ChaChaPoly.open(content.dropFirst(magic.count), with: key, label: purpose))
        } catch let error as NewerVaultFormat {
            throw VaultFailure.newer(file.path, version: error.version)
        } catch {
            throw VaultFailure.corrupt(file.path)
        }
    }

    func write(_ value: Value, with key: ChaChaPoly.Key) throws {
        let content = try JSONEncoder().encode(value)
        try file.replace(with: magic + ChaChaPoly.seal(content, with: key, label: purpose))
    }
}

/// A small file of the vault with the mode 0600.
private struct VaultFile: Sendable {
    /// The maximum size of a file in bytes. A larger file counts as damaged. ``VaultLimit`` keeps files below it.
    private static let maximumSize = 4 << 20

    let path: String

    /// Reads the content. Nil if the file does not exist.
    /// - Throws: `TokenStoreError` if the file cannot be read, belongs to another user, is accessible to others or is
    ///   too large.
    func read() throws -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw VaultFailure.cannotUse(path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw VaultFailure.cannotUse(path, reason: "it is not a file")
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
            throw VaultFailure.exposed(path, mode: "600")
        }
        guard status.st_size <= Self.maximumSize else { throw VaultFailure.corrupt(path) }
        return try readAll(descriptor, size: Int(status.st_size))
    }

    /// Replaces the content. Returns after the new content is safe from a crash.
    func replace(with content: Data) throws {
        do {
            try AtomicFile(path).replace(with: content)
        } catch {
            throw VaultFailure.cannotUse(error)
        }
    }

    private func readAll(_ descriptor: Int32, size: Int) throws -> Data {
        var content = Data(count: size)
        var filled = 0
        while filled < size {
            let count = content.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress?.advanced(by: filled), size - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw VaultFailure.cannotUse(path) }
            filled += count
        }
        return content
    }
}

/// The errors of the vault.
enum VaultFailure {
    static func corrupt(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.corrupt", message: "\(path) is damaged, or was not encrypted with the key in its directory",
            recovery: "Remove it and connect Spotify again.", namesFile: true)
    }

    static func newer(_ path: String, version: Int) -> TokenStoreError {
        TokenStoreError(
            code: "vault.newer", message: "\(path) has the format \(version) of a newer version of this program",
            recovery: "Use the newer version, or remove the file and connect Spotify again.", namesFile: true)
    }

    static var fullOfAccounts: TokenStoreError {
        TokenStoreError(
            code: "vault.full", message: "the token vault has \(VaultLimit.accounts) accounts, its maximum",
            recovery: "Disconnect the Spotify account of another session, then connect this one again.")
    }

    static var fullOfRequests: TokenStoreError {
        TokenStoreError(
            code: "vault.busy",
            message: "\(VaultLimit.requests) requests for access to Spotify wait for an answer, the maximum",
            recovery: "Connect Spotify again later: a request that nobody answers ends after an hour.")
    }

    static var tooLarge: TokenStoreError {
        TokenStoreError(
            code: "vault.too-large",
            message: "Spotify's tokens, or a request for them, have more than \(VaultLimit.entry) bytes",
            recovery: "Connect Spotify again.")
    }

    static func missingKey(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.key", message: "the key \(path) is missing or damaged",
            recovery: "Remove the whole directory and connect Spotify again.", namesFile: true)
    }

    static func exposed(_ path: String, mode: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.exposed", message: "\(path) belongs to another user or is accessible to others",
            recovery: "If it is yours, run: chmod \(mode) \(path). Otherwise remove it and connect Spotify again.",
            namesFile: true)
    }

    static func taken(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.taken", message: "another process writes to the token vault in \(path)",
            recovery: "Stop the other auth-service, or give this one a directory of its own.", namesFile: true)
    }

    /// - Parameter reason: the reason. Nil for the description of the operating system's last error.
    static func cannotUse(_ path: String, reason: String? = nil) -> TokenStoreError {
        TokenStoreError(
            code: "vault.unusable", message: "\(path) cannot be used: \(reason ?? String(cString: strerror(errno)))",
            recovery: "Check the path, its permissions and the disk.", namesFile: true)
    }

    static func cannotUse(_ error: SystemError) -> TokenStoreError {
        cannotUse(error.path, reason: error.reason)
    }
}
