internal import Authorization
internal import Foundation

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
}
