import Glibc
import SystemSupport

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

extension ComposeError {
    /// A socket that cannot be made: `socket-path-too-long`, `socket`.
    static func socket(_ error: SystemError) -> ComposeError {
        if error.code == ENAMETOOLONG { return socketPathTooLong(error.path) }
        return ComposeError(code: "socket", message: "cannot make the socket \(error)")
    }

    static func socketPathTooLong(_ path: String) -> ComposeError {
        ComposeError(
            code: "socket-path-too-long",
            message: "the socket path \(path) is longer than \(UnixAddress.longestPath) bytes",
            recovery: "use a shorter project name, or set XDG_RUNTIME_DIR to a shorter folder"
        )
    }

    /// A folder that cannot be watched: `watch`.
    static func watch(_ error: SystemError) -> ComposeError {
        ComposeError(code: "watch", message: "cannot watch \(error)")
    }
}

/// A key in the entry of a service.
struct ServiceKey: Sendable, Codable, Hashable {
    let service: String
    let name: String
}
