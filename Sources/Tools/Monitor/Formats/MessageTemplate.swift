package import EventBus

/// A line that somebody has drawn up: `{time} {type} {data.playlistID}`. Doubled braces stand for themselves, `\t` and `\n`
/// for a tab and a line's end.
package struct MessageTemplate: MessageFormat, Hashable {
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
