package import Support

/// A line of text whose parts have different styles. The parts are made printable.
package struct StyledText: Hashable, Sendable {
    private struct Part: Hashable {
        let text: String
        let style: TextStyle?
    }

    private var parts: [Part] = []
    /// The width in terminal columns.
    private(set) var width = 0

    package init() {}

    package init(_ text: String, _ style: TextStyle? = nil) {
        append(text, style)
    }

    package mutating func append(_ text: String, _ style: TextStyle? = nil) {
        append(Part(text: text.printable, style: style))
    }

    private mutating func append(_ part: Part) {
        parts.append(part)
        width += part.text.columns
    }

    /// - Parameters:
    ///   - isColored: True if the styles are written.
    ///   - columns: The maximum width, in terminal columns. A wider line is cut and ends with `…`. Nil for no limit.
    package func rendered(isColored: Bool, columns: Int?) -> TerminalText {
        guard let columns, width > columns else {
            return parts.map { Self.render($0.text[...], $0.style, isColored: isColored) }.joined()
        }
        var left = columns - 1
        var result = TerminalText()
        for part in parts where left >= 0 {
            let visible = part.text.prefix { character in
                left -= character.columns
                return left >= 0
            }
            result += Self.render(visible, part.style, isColored: isColored)
        }
        return result + "…"
    }

    /// The text in pieces that each fit into `columns` terminal columns; at least one piece.
    package func wrapped(columns: Int) -> [StyledText] {
        guard width > columns else { return [self] }
        let columns = max(1, columns)
        var pieces = [StyledText()]
        var left = columns
        for part in parts {
            var rest = part.text[...]
            while !rest.isEmpty {
                // A character that is wider than the terminal has a piece of its own.
                let piece = rest.prefix { character in
                    guard character.columns <= left || left == columns else { return false }
                    left -= character.columns
                    return true
                }
                if piece.isEmpty {
                    pieces.append(StyledText())
                    left = columns
                } else {
                    pieces[pieces.count - 1].append(Part(text: String(piece), style: part.style))
                    rest = rest[piece.endIndex...]
                }
            }
        }
        return pieces
    }

    private static func render(_ text: Substring, _ style: TextStyle?, isColored: Bool) -> TerminalText {
        guard isColored, let style, !text.isEmpty else { return TerminalText(text) }
        return style.applied(to: text)
    }
}

extension String {
    /// The width of a printable text in terminal columns.
    var columns: Int {
        // A printable ASCII character takes one column.
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
    }
}

/// A text style of a terminal. The raw value is a parameter of the control sequence "select graphic rendition"
/// (ECMA-48).
package enum TextStyle: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36

    package func applied(to text: some StringProtocol) -> TerminalText {
        "\u{1B}[\(rawValue)m\(String(text))\u{1B}[0m"
    }
}
