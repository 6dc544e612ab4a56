package import ArgumentParser
internal import CSegueVersion
internal import Foundation
internal import SystemPackage

/// Runs a command line, and makes of whatever goes wrong one line on standard error and a status.
package enum CommandLineTool {
    package static func run(_ root: (some AsyncParsableCommand).Type) async -> Never {
        // A reader that has had enough, as in `segue up | head -1`, must not kill a supervisor: writing fails instead.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try await root.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try await Console.output.flush()
        } catch Errno.brokenPipe {
            exit(EXIT_SUCCESS)
        } catch {
            await end(root, with: error)
        }
        exit(EXIT_SUCCESS)
    }

    private static func end(_ root: any ParsableCommand.Type, with error: any Error) async -> Never {
        // What was there before something failed is worth having.
        try? await Console.output.flush()
        if let failure = Failure(error) ?? Failure(ofOutput: error) {
            await Console.error.tell(failure.lines)
            exit(failure.status.rawValue)
        }
        // Wrong usage: one line as well, where the parser would add the synopsis. Help and version are "errors" too.
        guard root.exitCode(for: error) == .validationFailure else { root.exit(withError: error) }
        let lines = root.message(for: error).split(separator: "\n").joined(separator: " ")
        await Console.error.tell(lines)
        exit(ExitCode.validationFailure.rawValue)
    }
}

/// The text that `segue --version` prints.
package enum Version {
    private static let number = "0.1.0"

    /// The version, and in an installed program its commit, as in `0.1.0 (6c110f7a0bc1)`.
    package static var description: String {
        let commit = String(cString: segue_commit)
        return "\(number) (\(commit.isEmpty ? "development build" : commit))"
    }
}
