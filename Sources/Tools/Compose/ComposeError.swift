import Glibc
import SystemSupport

/// An error of a project or its compose files.
package struct ComposeError: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// A stable identifier for programs: `already-running`, `not-ready`, `executable-not-found`, …
    package let code: String
    package var message: String
    /// The remedy, as a phrase that follows the message; nil if there is none to add.
    package var recovery: String?
    /// The key of a service's entry that the error concerns; nil if it concerns none.
    private(set) var key: ServiceKey?
    /// The last lines of the failed service's output, or of the supervisor's log; can be empty.
    package var logTail: [String] = []
    /// The exit status of the service that has failed, as a shell reports it; nil if no process has ended.
    package var exitStatus: Int32?

    /// The message and the remedy in one line, then the lines of ``logTail``, indented.
    package var description: String {
        let first = recovery.map { "\(message); \($0)" } ?? message
        return ([first] + logTail.map { "  | \($0)" }).joined(separator: "\n")
    }
}

extension ComposeError {
    /// The error for a socket that cannot be created: `socket-path-too-long` or `socket`.
    static func socket(_ error: SystemError) -> ComposeError {
        if error.code == ENAMETOOLONG { return socketPathTooLong(error.path) }
        return ComposeError(code: "socket", message: "cannot create the socket \(error)")
    }

    static func socketPathTooLong(_ path: String) -> ComposeError {
        ComposeError(
            code: "socket-path-too-long",
            message: "the socket path \(path) is longer than \(UnixAddress.longestPath) bytes",
            recovery: "use a shorter project name, or set XDG_RUNTIME_DIR to a folder with a shorter path"
        )
    }

    /// Creates a folder and its missing parents with mode 0700, or checks that only this user can enter it.
    ///
    /// - Throws: ``ComposeError`` `directory`, `insecure-directory`.
    static func makeFolder(_ path: String) throws(ComposeError) {
        try ofFolders { () throws(PrivateFolderError) in try PrivateFolder.make(path) }
    }

    /// Runs `body`, and turns the error of a folder into `directory` or `insecure-directory`.
    @discardableResult
    static func ofFolders<Result>(
        _ body: () throws(PrivateFolderError) -> Result
    ) throws(ComposeError) -> Result {
        do {
            return try body()
        } catch {
            throw ComposeError(
                code: error.isInsecure ? "insecure-directory" : "directory", message: error.message,
                recovery: error.recovery)
        }
    }

    /// The error for a folder that cannot be watched: `watch`.
    static func watch(_ error: SystemError) -> ComposeError {
        ComposeError(code: "watch", message: "cannot watch the folder \(error)")
    }
}

/// A key in a service's entry of a compose file.
struct ServiceKey: Sendable, Codable, Hashable {
    let service: String
    let name: String
}
