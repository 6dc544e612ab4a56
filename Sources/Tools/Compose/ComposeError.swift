/// What went wrong with a project, fit to be shown to a person as it is.
package struct ComposeError: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// Stable, for programs: `already-running`, `not-ready`, `executable-not-found`, …
    package let code: String
    package let message: String
    /// What to do about it.
    package let recovery: String?
    /// The last lines that the service at fault wrote.
    package let logTail: [String]

    package init(code: String, message: String, recovery: String? = nil, logTail: [String] = []) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.logTail = logTail
    }

    /// One line, then the service's last lines, indented.
    package var description: String {
        let first = recovery.map { "\(message); \($0)" } ?? message
        return ([first] + logTail.map { "  | \($0)" }).joined(separator: "\n")
    }
}
