internal import Authorization
internal import Dispatch
internal import Foundation
internal import Sodium
internal import SystemSupport

/// The directory that holds the vault: 0700, and so no business of other users.
struct VaultDirectory: Sendable {
    let path: String

    init(_ path: String) {
        // A path that ends in a slash would otherwise show up as `//` in every error.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Written by the vault's owner, read by other processes.
    var tokens: SealedFile<StoredTokens> { SealedFile("tokens", in: self) }

    /// The requests for consent that are not answered yet.
    var pending: SealedFile<[PendingAuthorization]> { SealedFile("pending", in: self) }

    private var keyFile: VaultFile { VaultFile(path: file("key")) }

    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// The key that the vault's files are sealed with, from a file of its own: whoever copies one file has nothing.
    /// - Throws: `TokenStoreError` if it is missing or damaged, or open to others.
    func key() throws -> ChaChaPoly.Key {
        guard let bytes = try keyFile.read(), let key = ChaChaPoly.Key(bytes) else {
            throw VaultFailure.missingKey(keyFile.path)
        }
        return key
    }

    /// The key that is there, or a new one. Only for the owner of the lock: two makers would lose one of two keys.
    func keyOrNew() throws -> ChaChaPoly.Key {
        if try keyFile.read() != nil { return try key() }
        let key = ChaChaPoly.Key()
        try keyFile.replace(with: key.bytes)
        return key
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

    /// The lock of the one process that may write to the vault.
    /// - Throws: `TokenStoreError` at once if another process holds it.
    func lock() throws -> FileLock {
        do {
            guard let lock = try FileLock.acquire(file("lock")) else { throw VaultFailure.taken(path) }
            return lock
        } catch let error as SystemError {
            throw VaultFailure.cannotUse(error)
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

/// One value in one encrypted file: `SEGUE-VAULT-1`, then nonce, ciphertext and tag of ChaCha20-Poly1305 (RFC 8439).
struct SealedFile<Value: Codable & Sendable>: Sendable {
    private let directory: VaultDirectory
    private let file: VaultFile
    /// Authenticated with the content, so that one of the vault's files cannot be passed off as the other.
    private let purpose: Data
    private let magic = Data("SEGUE-VAULT-1\n".utf8)

    init(_ name: String, in directory: VaultDirectory) {
        self.directory = directory
        file = VaultFile(path: directory.file(name))
        purpose = Data(name.utf8)
    }

    /// What was kept; nil if nothing was.
    /// - Throws: `TokenStoreError`, which never quotes the content.
    func read() throws -> Value? {
        guard let content = try file.read() else { return nil }
        let key = try directory.key()
        guard content.starts(with: magic) else { throw VaultFailure.corrupt(file.path) }
        do {
            return try JSONDecoder().decode(
                Value.self, from: ChaChaPoly.open(content.dropFirst(magic.count), with: key, label: purpose))
        } catch {
            throw VaultFailure.corrupt(file.path)
        }
    }

    func write(_ value: Value, with key: ChaChaPoly.Key) throws {
        let content = try JSONEncoder().encode(value)
        try file.replace(with: magic + ChaChaPoly.seal(content, with: key, label: purpose))
    }
}

/// A small 0600 file of the vault.
private struct VaultFile: Sendable {
    /// Nothing kept here comes near it; a larger file is not ours.
    private static let maximumSize = 1 << 20

    let path: String

    /// The content; nil if there is no file.
    /// - Throws: `TokenStoreError` if it cannot be read, or others can read it.
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

    /// Replaces the content. Returns when the new one survives a crash.
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

/// The errors of the vault, each said once.
enum VaultFailure {
    static func corrupt(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.corrupt", message: "\(path) is damaged, or was not sealed with the key beside it",
            recovery: "Remove it and connect Spotify again.")
    }

    static func missingKey(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.key", message: "the key \(path) is missing or damaged",
            recovery: "Remove the whole directory and connect Spotify again.")
    }

    static func exposed(_ path: String, mode: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.exposed", message: "\(path) belongs to another user or is open to others",
            recovery: "Run: chmod \(mode) \(path)")
    }

    static func taken(_ path: String) -> TokenStoreError {
        TokenStoreError(
            code: "vault.taken", message: "another process writes to the token vault in \(path)",
            recovery: "Stop the other auth-service, or give this one a directory of its own.")
    }

    /// - Parameter reason: what the operating system said last, unless given.
    static func cannotUse(_ path: String, reason: String? = nil) -> TokenStoreError {
        TokenStoreError(
            code: "vault.unusable", message: "\(path) cannot be used: \(reason ?? String(cString: strerror(errno)))",
            recovery: "Check the path and its permissions.")
    }

    static func cannotUse(_ error: SystemError) -> TokenStoreError {
        cannotUse(error.path, reason: error.reason)
    }
}
