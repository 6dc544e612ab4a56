internal import Authorization
internal import Dispatch
internal import Foundation
internal import Sodium

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

/// One value in one encrypted file: `SEGUE-VAULT-1`, then nonce, ciphertext and tag of ChaCha20-Poly1305 (RFC 8439).
struct SealedFile<Value: Codable & Sendable>: Sendable {
    private let file: AtomicFile
    /// Authenticated with the content, so that one of the vault's files cannot be passed off as the other.
    private let purpose: Data
    private let magic = Data("SEGUE-VAULT-1\n".utf8)

    init(_ name: String, in directory: VaultDirectory) {
        file = AtomicFile(path: directory.file(name))
        purpose = Data(name.utf8)
    }

    /// What was kept; nil if nothing was.
    /// - Parameter key: asked for only if there is something to open.
    /// - Throws: `TokenStoreError`, which never quotes the content.
    func read(with key: () throws -> VaultKey) throws -> Value? {
        guard let content = try file.read() else { return nil }
        let key = try key().key
        guard content.starts(with: magic) else { throw VaultFailure.corrupt(file.path) }
        do {
            return try JSONDecoder().decode(
                Value.self, from: ChaChaPoly.open(content.dropFirst(magic.count), with: key, label: purpose))
        } catch {
            throw VaultFailure.corrupt(file.path)
        }
    }

    func write(_ value: Value, with key: VaultKey) throws {
        let content = try JSONEncoder().encode(value)
        try file.replace(with: magic + ChaChaPoly.seal(content, with: key.key, label: purpose))
    }
}

/// The key that the vault's files are sealed with, in a file of its own: whoever copies one file has nothing.
struct VaultKey: Sendable {
    static let fileName = "key"

    let key: ChaChaPoly.Key

    /// The key that is there; nil if there is none.
    /// - Throws: `TokenStoreError` if it is damaged, or open to others.
    static func load(from directory: VaultDirectory) throws -> VaultKey? {
        let file = AtomicFile(path: directory.file(fileName))
        guard let bytes = try file.read() else { return nil }
        guard let key = ChaChaPoly.Key(bytes) else { throw VaultFailure.missingKey(file.path) }
        return VaultKey(key: key)
    }

    /// The key that is there, or a new one. Only for the owner of the lock: two makers would lose one of two keys.
    static func loadOrMake(in directory: VaultDirectory) throws -> VaultKey {
        if let existing = try load(from: directory) { return existing }
        let key = ChaChaPoly.Key()
        try AtomicFile(path: directory.file(fileName)).replace(with: key.bytes)
        return VaultKey(key: key)
    }
}

/// The directory that holds the vault: 0700, and so no business of other users.
struct VaultDirectory: Sendable {
    let path: String

    init(_ path: String) {
        // A path that ends in a slash would otherwise show up as `//` in every error.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Makes the directory unless it is there.
    /// - Throws: `TokenStoreError` if it cannot be made, or others can look into it.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw VaultFailure.cannotUse(path, reason: (error as NSError).localizedDescription)
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw VaultFailure.cannotUse(path, reason: "it is not a directory")
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
            throw VaultFailure.exposed(path, mode: "700")
        }
    }

    /// Removes what a writer that was killed left half written.
    ///
    /// Only for the owner of the lock: everybody else's temporary files are dead.
    func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.hasSuffix(AtomicFile.temporarySuffix) {
            unlink(file(name))
        }
    }
}

/// Runs what waits for the disk on a queue of its own: the cooperative pool must not block.
struct FileQueue: Sendable {
    private let queue = DispatchQueue(label: "segue.token-vault")

    /// Runs one piece of work after the other.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
