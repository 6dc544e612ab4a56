public import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import Support
internal import SystemSupport

extension AsyncParsableCommand {
    /// Runs the command line of this process. A program calls it in place of the parser's own `main()`:
    ///
    ///     @main
    ///     struct Greeter: AsyncParsableCommand {
    ///         static func main() async { await runProgram() }
    ///     }
    ///
    /// Errors of the parser may quote what was typed. They are written to standard error in lines without control
    /// characters, so that a terminal does not execute what an argument contains. The help and the version are printed
    /// as the parser does.
    public static func runProgram() async {
        HelpWidth.ensure()
        do {
            try await parseAndRun()
        } catch {
            // The parser throws the help and the version as errors, too.
            guard !exitCode(for: error).isSuccess, !(error is ExitCode) else { exit(printing: error) }
            StandardError.write(fullMessage(for: error).lines.filter { !$0.isEmpty }.map(String.init))
            Foundation.exit(exitCode(for: error).rawValue)
        }
    }
}
