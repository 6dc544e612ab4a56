package import EventBus

/// Makes lines of messages.
package protocol MessageFormat: Sendable {
    /// What stands above the first message, without the line's end.
    var heading: String? { get }

    /// Appends the message, with the line's end.
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

/// The data as it was published, each message's on a line of its own.
package struct RawFormat: MessageFormat {
    package init() {}

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        lines.append(contentsOf: message.data)
        lines.append(UInt8(ascii: "\n"))
    }
}

/// Some values of each message, with tabs between them; an empty place where there is nothing, so that lines still count
/// messages, and places still name fields.
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

/// A table for spreadsheets: a column for each path, quoted as RFC 4180 says. Lines end as everywhere on this system, which
/// readers of CSV take as well.
package struct CSVFormat: MessageFormat {
    private let columns: [MessagePath]

    package init(_ columns: [MessagePath]) {
        self.columns = columns
    }

    package var heading: String? { line(columns.map(\.description)) }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        lines.append(line: line(columns.map(values.text(at:))))
    }

    private func line(_ cells: [String]) -> String {
        cells.map(Self.quoted).joined(separator: ",")
    }

    private static func quoted(_ cell: String) -> String {
        // Looked at by scalars: as a Character, "\r\n" is neither.
        let isPlain = !cell.unicodeScalars.contains { "\",\r\n".unicodeScalars.contains($0) }
        return isPlain ? cell : "\"\(cell.replacing("\"", with: "\"\""))\""
    }
}

/// A line that somebody has drawn up: `{time} {type} {data.playlistID}`. Doubled braces stand for themselves, `\t` and `\n`
/// for a tab and a line's end.
package struct TemplateFormat: MessageFormat, Hashable {
    private enum Part: Hashable {
        case text(String)
        case path(MessagePath)
    }

    private let parts: [Part]

    /// - Throws: ``SyntaxMistake``.
    package init(_ text: String) throws(SyntaxMistake) {
        var parts: [Part] = []
        var rest = Substring(text)
        while let character = rest.popFirst() {
            let column = text.distance(from: text.startIndex, to: rest.startIndex)
            switch (character, rest.first) {
            case ("{", "{"), ("}", "}"): parts.append(.text(String(rest.removeFirst())))
            case ("\\", "t"), ("\\", "n"): parts.append(.text(rest.removeFirst() == "t" ? "\t" : "\n"))
            case ("{", _):
                let path = rest.prefix { $0 != "}" }
                rest = rest.dropFirst(path.count)
                guard rest.popFirst() != nil else {
                    throw SyntaxMistake("'{' is not closed; write '{{' for the sign itself", column: column)
                }
                parts.append(.path(try MessagePath(String(path), column: column + 1)))
            default: parts.append(.text(String(character)))
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
