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
        var left = columns ?? .max
        var result = ""
        let overflows = parts.reduce(0) { $0 + $1.text.reduce(0) { $0 + $1.columns } } > left
        if overflows { left -= 1 }
        for part in parts {
            let visible = part.text.prefix { character in
                left -= character.columns
                return left >= 0
            }
            result += isColored && !visible.isEmpty ? part.style?.applied(to: visible) ?? String(visible) : "\(visible)"
            guard visible.endIndex == part.text.endIndex else { break }
        }
        return overflows ? result + "…" : result
    }
}
