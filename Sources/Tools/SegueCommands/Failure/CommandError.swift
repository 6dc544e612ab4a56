/// Why a command of the command line cannot do what it was asked for.
package struct CommandError: Error, Hashable, Sendable {
    /// Stable, for programs.
    package let code: String
    /// One line: what is wrong, and where.
    package let message: String
    /// What to do about it.
    package let recovery: String?
    package let status: ExitStatus

    init(code: String, _ message: String, recovery: String? = nil, status: ExitStatus = .failure) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.status = status
    }
}

extension CommandError: CustomStringConvertible {
    package var description: String { recovery.map { "\(message); \($0)" } ?? message }
}
