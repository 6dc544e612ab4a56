package import EventBus
internal import Support

/// Writes messages as lines.
package protocol MessageFormat: Sendable {
    /// The line above the first message, without a newline. Nil if the format has no heading.
    var heading: String? { get }

    /// Appends the message and a newline.
    func write(_ message: Envelope, to lines: inout [UInt8]) throws
}

extension MessageFormat {
    package var heading: String? { nil }
}

extension [UInt8] {
    mutating func append(line text: String) {
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\n"))
    }
}

/// Writes the data of each message as it was published, followed by a newline.
package struct RawFormat: MessageFormat {
    package init() {}

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        lines.append(contentsOf: message.data)
        lines.append(UInt8(ascii: "\n"))
    }
}

/// Writes the values of each message at given paths, separated by tabs. A missing value is written as an empty string.
package struct FieldFormat: MessageFormat {
    private let fields: [MessagePath]

    package init(_ fields: [MessagePath]) {
        self.fields = fields
    }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        lines.append(line: fields.map { values.text(at: $0).printable }.joined(separator: "\t"))
    }
}

/// Writes a CSV table with a column for each path. Cells are quoted as in RFC 4180. Lines end with LF instead of the
/// CRLF of the RFC.
package struct CSVFormat: MessageFormat {
    private let columns: [MessagePath]

    package init(_ columns: [MessagePath]) {
        self.columns = columns
    }

    package var heading: String? { Escape.csvLine(columns.map(\.description)) }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        lines.append(line: Escape.csvLine(columns.map(values.text(at:))))
    }
}

/// Writes each message with a line template: `{time} {type} {data.playlistID}`. `{{` and `}}` are written as single
/// braces, `\t` as a tab and `\n` as a newline.
package struct TemplateFormat: MessageFormat, Hashable {
    private enum Part: Hashable {
        case text(String)
        case path(MessagePath)
    }

    private let parts: [Part]

    /// - Throws: ``SyntaxMistake`` if a brace is not closed or a path is not valid.
    package init(_ text: String) throws(SyntaxMistake) {
        var parts: [Part] = []
        var scalars = text[...].unicodeScalars
        while let scalar = scalars.popFirst() {
            let column = text.distance(from: text.startIndex, to: scalars.startIndex)
            switch (scalar, scalars.first) {
            case ("{", "{"), ("}", "}"): parts.append(.text(String(scalars.removeFirst())))
            case ("\\", "t"), ("\\", "n"): parts.append(.text(scalars.removeFirst() == "t" ? "\t" : "\n"))
            case ("{", _):
                let path = scalars.prefix { $0 != "}" }
                scalars = scalars[path.endIndex...]
                guard scalars.popFirst() != nil else {
                    throw SyntaxMistake("'{' is not closed; add '}', or write '{{' for a brace", column: column)
                }
                parts.append(.path(try MessagePath(String(path), column: column + 1)))
            default: parts.append(.text(String(scalar)))
            }
        }
        self.parts = parts
    }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        for part in parts {
            switch part {
            case .text(let text): lines.append(contentsOf: text.utf8)
            case .path(let path): lines.append(contentsOf: values.text(at: path).printable.utf8)
            }
        }
        lines.append(UInt8(ascii: "\n"))
    }
}
