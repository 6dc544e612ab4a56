/// Why tokens, or requests for consent, could not be kept or read. Never holds any.
package struct TokenStoreError: Error, Hashable, Sendable {
    /// Stable, dotted: `vault.corrupt`.
    package let code: String
    /// One line: what is wrong, and with which file.
    package let message: String
    /// One line: what to do about it.
    package let recovery: String

    package init(code: String, message: String, recovery: String) {
        self.code = code
        self.message = message
        self.recovery = recovery
    }
}

extension TokenStoreError: CustomStringConvertible {
    package var description: String { "\(message). \(recovery)" }
}
