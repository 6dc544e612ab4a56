/// What went wrong with a project, fit to be shown to a person as it is.
package struct ComposeError: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// Stable, for programs: `already-running`, `not-ready`, `executable-not-found`, …
    package let code: String
    package var message: String
    /// What to do about it.
    package private(set) var recovery: String?
    /// What of a service's entry is to be corrected, if anything.
    private(set) var key: ServiceKey?
    /// The last lines that the service at fault wrote.
    package var logTail: [String] = []

    /// One line, then the service's last lines, indented.
    package var description: String {
        let first = recovery.map { "\(message); \($0)" } ?? message
        return ([first] + logTail.map { "  | \($0)" }).joined(separator: "\n")
    }
}

/// A key in the entry of a service.
struct ServiceKey: Sendable, Codable, Hashable {
    let service: String
    let name: String
}
