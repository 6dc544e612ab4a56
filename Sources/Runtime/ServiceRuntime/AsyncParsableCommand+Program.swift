package import ArgumentParser
internal import Foundation
internal import Support
internal import SystemSupport

extension AsyncParsableCommand {
    /// Runs the command line of this process. The parser's errors, which may quote what was typed, are written as lines
    /// without control characters.
    package static func runProgram() async {
        HelpWidth.ensure()
        do {
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // The parser throws the help and the version as errors, too, and prints them.
            guard !exitCode(for: error).isSuccess, !(error is ExitCode) else { exit(withError: error) }
            StandardError.write(fullMessage(for: error).lines.filter { !$0.isEmpty }.map(String.init))
            Foundation.exit(exitCode(for: error).rawValue)
        }
    }
}
