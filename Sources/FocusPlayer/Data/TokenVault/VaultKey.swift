internal import Foundation
internal import Sodium

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
