internal import Foundation
internal import Glibc
internal import Support

/// Standard error, as a stream of lines: of a log, or of errors. What a program writes there reaches terminals, journals
/// and files, so each line is one line without control characters, whatever is in it.
package struct StandardError: TextOutputStream, Sendable {
    package init() {}

    /// Writes one line, with or without the line feed at its end.
    package func write(_ line: String) {
        let text = (line.removing(suffix: "\n") ?? line[...]).printable + "\n"
        // If it cannot be written, there is no place to say so.
        try? writeAll(Data(text.utf8), to: STDERR_FILENO, "standard error")
    }

    package static func write(_ lines: some Sequence<String>) {
        for line in lines { StandardError().write(line) }
    }
}
