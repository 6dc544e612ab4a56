/// Why nothing was written.
package struct ScaffoldError: Error, Hashable, Sendable {
    /// One line: what is wrong, and where.
    package let message: String
    /// What to do about it.
    package let recovery: String

    init(_ message: String, recovery: String) {
        self.message = message
        self.recovery = recovery
    }
}
