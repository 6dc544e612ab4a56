/// A line made of parts that look different.
package struct StyledText: Hashable, Sendable {
    private struct Part: Hashable {
        let text: String
        let style: TextStyle?
    }

    private var parts: [Part] = []

    package init() {}

    package mutating func append(_ text: String, _ style: TextStyle? = nil) {
        parts.append(Part(text: text, style: style))
    }

    /// - Parameters:
    ///   - isColored: whether to write the styles.
    ///   - columns: where to cut the line; `nil` leaves it whole.
    package func rendered(isColored: Bool, columns: Int?) -> String {
        guard let columns, width > columns else {
            return parts.map { Self.render($0.text[...], $0.style, isColored: isColored) }.joined()
        }
        var left = columns - 1
        var result = ""
        for part in parts where left >= 0 {
            let visible = part.text.prefix { character in
                left -= character.columns
                return left >= 0
            }
            result += Self.render(visible, part.style, isColored: isColored)
        }
        return result + "…"
    }

    private var width: Int {
        parts.map { part in part.text.reduce(0) { $0 + $1.columns } }.reduce(0, +)
    }

    private static func render(_ text: Substring, _ style: TextStyle?, isColored: Bool) -> String {
        guard isColored, let style, !text.isEmpty else { return String(text) }
        return style.applied(to: text)
    }
}
