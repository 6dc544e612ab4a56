package import ArgumentParser
internal import Glibc
internal import SystemSupport

/// Standard output, for text that a program prints once before it ends.
package enum StandardOutput {
    /// The exit status of a program that cannot write its output (sysexits.h).
    package static let failure = ExitCode(74)

    /// Writes a text and a line feed. If nobody reads the output any more, the rest is dropped.
    /// - Throws: ``failure``, after a line on standard error that begins with `program`.
    package static func write(_ text: String, for program: String) throws(ExitCode) {
        var rest = Array("\(text)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE { return }
            guard count > 0 else {
                let reason = String(cString: strerror(errno))
                StandardError.write(["\(program): standard output cannot be written: \(reason)"])
                throw failure
            }
            rest = rest.dropFirst(count)
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
            try StandardOutput.write(text, for: _commandName)
        } catch {
            exit(withError: error)
        }
        exit(withError: nil)
    }
}
