internal import Glibc
internal import Support

/// Standard error, as a stream of lines: of a log, or of errors. What a program writes there reaches terminals, journals
/// and files, so each line is one line without control characters, whatever is in it.
package struct StandardError: TextOutputStream, Sendable {
    package init() {}

    /// Writes one line, with or without the line feed at its end.
    package func write(_ line: String) {
        let text = (line.removing(suffix: "\n") ?? line[...]).printable + "\n"
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // Nobody reads it any more.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    package static func write(_ lines: some Sequence<String>) {
        for line in lines { StandardError().write(line) }
    }
}
