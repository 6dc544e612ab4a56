package import ArgumentParser
internal import Foundation
internal import Glibc
internal import SystemSupport

/// The text that a program prints once, before it ends.
package enum PrintedText {
    /// The exit status of a program that cannot write its output (sysexits.h).
    package static let failure = ExitCode(74)

    /// Writes a text and a line feed to standard output. If nobody reads the output any more, the rest is dropped.
    /// - Throws: ``failure``, after a line on standard error that begins with `program`.
    package static func write(_ text: String, for program: String) throws(ExitCode) {
        do throws(SystemError) {
            try writeAll(Data("\(text)\n".utf8), to: STDOUT_FILENO, "standard output")
        } catch {
            guard error.code != EPIPE else { return }
            StandardError.write(["\(program): standard output cannot be written: \(error.reason)"])
            throw failure
        }
    }
}

extension ParsableCommand {
    /// Prints the help, the version or the completion script that the parser has thrown, and ends this process. For another
    /// exit status that the parser or a command has thrown, it only ends the process.
    ///
    /// The parser's own function does not notice that standard output cannot be written.
    package static func exit(printing error: any Error) -> Never {
        let text = fullMessage(for: error)
        guard exitCode(for: error).isSuccess, !text.isEmpty else { exit(withError: error) }
        do {
            try PrintedText.write(text, for: _commandName)
        } catch {
            exit(withError: error)
        }
        exit(withError: nil)
    }
}
