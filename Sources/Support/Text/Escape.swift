/// Text from outside as a literal of another language. A reader of that language reads what was written.
///
/// The functions go through the text by Unicode scalars. By Character, a quote with a combining mark after it is not a
/// quote, and CRLF is not the end of a line, so either would remain without an escape.
package enum Escape {
    // MARK: Shells

    /// One word of a command line for bash or zsh. A word of harmless characters remains as it is.
    ///
    /// The characters that ``TerminalText`` escapes are written as octal numbers, because a terminal may execute what is
    /// pasted into it. A word cannot contain NUL, which becomes U+FFFD.
    package static func shellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy(plainShellBytes.contains)
        if isPlain && !text.isEmpty { return text }
        guard text.unicodeScalars.contains(where: { $0.escape != nil }) else {
            return "'\(text.replacing(scalars: "'", with: #"'\''"#))'"
        }
        let escaped = text.replacingScalars { scalar in
            switch scalar {
            case "\0": "\u{FFFD}"
            case "'": #"\'"#
            case "\\": #"\\"#
            case _ where scalar.escape != nil: UTF8.encode(scalar)?.map(octal).joined()
            default: nil
            }
        }
        return "$'\(escaped)'"
    }

    /// A completion for Bash, which interprets it like a part of a command line.
    package static func bashCompletion(_ text: String) -> String {
        text.replacingScalars { $0.isASCIILetter || $0.isASCIIDigit ? nil : "\\\($0)" }
    }

    /// A completion for Zsh, which quotes it, reads the part after a colon as a description, and removes backslashes.
    package static func zshCompletion(_ text: String) -> String {
        text.replacingScalars { $0 == ":" || $0 == "\\" ? "\\\($0)" : nil }
    }

    private static let plainShellBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,".utf8)

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return #"\"# + String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }

    // MARK: Web

    /// Text, or the value of an attribute in quotes, in HTML. HTML cannot contain NUL, which becomes U+FFFD.
    package static func html(_ text: String) -> String {
        text.replacingScalars { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            // A reader of HTML turns CR and CRLF into LF.
            case "\r": "&#13;"
            case "\0": "\u{FFFD}"
            default: nil
            }
        }
    }

    // MARK: Tables and metrics

    /// A line of a CSV table, without the end of the line. Cells are quoted as in RFC 4180.
    package static func csvLine(_ cells: [String]) -> String {
        // Readers skip an empty line.
        cells == [""] ? "\"\"" : cells.map(csvCell).joined(separator: ",")
    }

    private static func csvCell(_ text: String) -> String {
        guard text.contains(scalarOf: "\",\r\n") else { return text }
        return "\"\(text.replacing(scalars: "\"", with: "\"\""))\""
    }

    /// The value of a label in the text format of Prometheus, with its quotes.
    package static func metricLabel(_ text: String) -> String {
        let escaped = text.replacingScalars { scalar in
            switch scalar {
            case "\\": #"\\"#
            case "\"": #"\""#
            case "\n": #"\n"#
            default: nil
            }
        }
        return "\"\(escaped)\""
    }

    // MARK: Configurations

    /// A string of a configuration of nats-server, with its quotes.
    package static func natsString(_ text: String) -> String {
        let escaped = text.replacingScalars { scalar in
            switch scalar {
            case "\\": #"\\"#
            case "\"": #"\""#
            case "\n": #"\n"#
            case "\r": #"\r"#
            case "\t": #"\t"#
            default: nil
            }
        }
        return "\"\(escaped)\""
    }

    /// A value of a compose file, where a single dollar sign would begin a variable.
    package static func composeValue(_ text: String) -> String {
        text.replacing(scalars: "$", with: "$$")
    }

    // MARK: Drawings

    /// Lines as a quoted string of Graphviz, which interprets escape sequences and HTML entities.
    package static func dotString(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            drawable(line).replacingScalars { scalar in
                switch scalar {
                case "\\": #"\\"#
                case "\"": #"\""#
                case "&": "&amp;"
                default: nil
                }
            }
        }
        return "\"\(escaped.joined(separator: "\\n"))\""
    }

    /// Lines as a quoted string of Mermaid, which has no escape sequences. Its entities begin with `#`.
    package static func mermaidString(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            drawable(line).replacingScalars { scalar in
                switch scalar {
                case "\"": "#quot;"
                case "#": "#35;"
                case "&": "#amp;"
                case "<": "#lt;"
                case ">": "#gt;"
                case "`": "#96;"
                default: nil
                }
            }
        }
        return "\"\(escaped.joined(separator: "<br>"))\""
    }

    /// A line for a drawing. Control characters and line separators become spaces. Unassigned characters become U+FFFD,
    /// because XML does not allow some of them.
    private static func drawable(_ line: String) -> String {
        line.replacingScalars { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            case .unassigned, .surrogate: "\u{FFFD}"
            default: nil
            }
        }
    }
}
