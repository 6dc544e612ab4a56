package import ArgumentParser
internal import CSegueVersion
internal import CommandLineSupport
internal import Foundation
internal import Support
internal import SystemPackage
internal import SystemSupport

/// Runs a command line, and turns an error into lines on standard error and an exit status.
package enum CommandLineTool {
    package static func run(_ root: (some AsyncParsableCommand).Type) async -> Never {
        // A write to a closed pipe must fail instead of killing this process: in `segue up | head -1`, the supervisor
        // still has to stop its services.
        signal(SIGPIPE, SIG_IGN)
        do {
            try checkArguments()
            let verb = VerbPath(Array(CommandLine.arguments.dropFirst()), of: root)
            try verb.check(root._commandName)
            if verb.command is any WallTimeCommand.Type { WallTime.useUTC(ifAskedIn: verb.arguments) }
            try await root.parseAndRun(verb.arguments)
            try await Console.output.flush()
        } catch Errno.brokenPipe {
            exit(EXIT_SUCCESS)
        } catch {
            await end(root, with: error)
        }
        exit(EXIT_SUCCESS)
    }

    /// Swift replaces bytes of arguments that are not UTF-8, and a message would then have other data than was written.
    private static func checkArguments() throws(CommandError) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            guard String(validatingCString: argument) == nil else { continue }
            throw CommandError(
                code: "not-utf8", "argument \(index) is not UTF-8", recovery: "write it in UTF-8", status: .dataError)
        }
    }

    private static func end(_ root: any ParsableCommand.Type, with error: any Error) async -> Never {
        // The output that was printed before the error is still written.
        try? await Console.output.flush()
        if let failure = Failure(error) ?? Failure(ofOutput: error) {
            await Console.error.tell(failure.lines)
            exit(failure.status.rawValue)
        }
        HelpWidth.ensure()
        // A usage error is printed on one line, without the synopsis that the parser would add. The parser also throws
        // the help and the version as errors.
        guard root.exitCode(for: error) == .validationFailure else { root.exit(printing: error) }
        await Console.error.tell(root.message(for: error).onOneLine)
        exit(ExitCode.validationFailure.rawValue)
    }
}

/// The version that `segue --version` prints.
package enum Version {
    static let number = "0.1.0"

    /// The folder of the source. Nil for an installed program.
    static var source: String? {
        let folder = String(cString: segue_source)
        return folder.isEmpty ? nil : folder
    }

    /// The version and the commit, as in `0.1.0 (6c110f7a0bc1)`; without a commit `0.1.0 (development build)`.
    package static var description: String {
        let commit = String(cString: segue_commit)
        return "\(number) (\(commit.isEmpty ? "development build" : commit))"
    }
}
