internal import Foundation
internal import Sodium

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
