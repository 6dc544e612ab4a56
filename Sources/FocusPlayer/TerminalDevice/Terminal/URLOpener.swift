internal import Foundation
internal import Subprocess
internal import SystemPackage

/// Runs a command with a URL as its last argument.
package struct URLOpener: Sendable {
    /// A URL comes from outside: one that names a local file, or that a command would take for an option, stays closed.
    private static let schemes = ["http", "https", "spotify"]

    private let words: [String]

    /// - Parameter command: words with spaces between them, such as `curl -sL`; no shell reads them. nil if there are none.
    package init?(command: String) {
        words = command.split(separator: " ").map(String.init)
        if words.isEmpty { return nil }
    }

    /// Opens a URL and waits until the command has ended.
    /// - Returns: why it could not be opened; nil if it was.
    func open(_ url: String) async -> String? {
        guard let scheme = URL(string: url)?.scheme?.lowercased(), Self.schemes.contains(scheme) else {
            return "That was not opened: only \(Self.schemes.joined(separator: ", ")) URLs are."
        }
        do {
            let arguments = Arguments(words.dropFirst() + [url])
            let command: Executable = words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0])
            let result = try await Subprocess.run(
                command, arguments: arguments, output: .discarded, error: .discarded)
            let status = result.terminationStatus
            return status.isSuccess ? nil : "\(words[0]) could not open that: \(status)"
        } catch {
            return "\(words[0]) cannot be run, name another command with --open: \(error)"
        }
    }
}
