/// Text that a terminal may receive.
///
/// Control characters come only from the literals of this program: all other text is escaped, so that it cannot move
/// the cursor, change colours, pretend to be another line or change the direction of text.
///
///     let line: TerminalText = "\u{1B}[1m\(name)\u{1B}[0m"
package struct TerminalText: Hashable, Sendable, CustomStringConvertible {
    /// The text as it is written.
    package private(set) var description: String

    /// Text with several lines: line feeds and tabs stay, other control characters are made visible.
    package init(_ text: some StringProtocol) {
        description = text.escaped { $0 == "\n" || $0 == "\t" ? nil : $0.escape }
    }

    /// A line of a program that may colour its output. Sequences that select colours (SGR) stay, or are removed if
    /// `isColored` is false; other control characters are made visible. Colours end with the line.
    package init(coloredLine text: some StringProtocol, isColored: Bool) {
        var rest = Substring(text).unicodeScalars
        var (result, hasColor) = (TerminalText(), false)
        while let escape = rest.firstIndex(of: "\u{1B}") {
            let end = rest[escape...].endOfStyle
            let part = rest[..<(end == nil ? rest.index(after: escape) : escape)]
            result += TerminalText(Substring(part))
            if let end, isColored {
                result.description.unicodeScalars.append(contentsOf: rest[escape..<end])
                hasColor = true
            }
            rest = rest[(end ?? part.endIndex)...]
        }
        result += TerminalText(Substring(rest))
        self = hasColor ? result + "\u{1B}[0m" : result
    }

    package init() { description = "" }

    package var isEmpty: Bool { description.isEmpty }
    package var utf8: String.UTF8View { description.utf8 }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        var sum = left
        sum += right
        return sum
    }

    package static func += (left: inout TerminalText, right: TerminalText) {
        left.description += right.description
    }
}

extension TerminalText: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { description = value }

    package init(stringInterpolation: Interpolation) { self = stringInterpolation.text }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = TerminalText()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { text += TerminalText(stringLiteral: literal) }

        package mutating func appendInterpolation(_ value: TerminalText) { text += value }

        /// Appends a value on one line.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += TerminalText(stringLiteral: value.description.printable)
        }
    }
}

extension Sequence<TerminalText> {
    package func joined(separator: TerminalText = "") -> TerminalText {
        var (result, isFirst) = (TerminalText(), true)
        for text in self {
            if !isFirst { result += separator }
            result += text
            isFirst = false
        }
        return result
    }
}

extension StringProtocol {
    /// The text on one line: line breaks and tabs become spaces, and other control characters are made visible, in the
    /// form of JSON: `\u001b`.
    package var printable: String {
        escaped { scalar in
            switch scalar {
            case "\n", "\r", "\t", "\u{2028}", "\u{2029}": " "
            default: scalar.escape
            }
        }
    }

    /// - Parameter escape: Returns the replacement of a scalar; nil to keep it.
    fileprivate func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
        var text = String(self)
        // Most text needs no escape.
        let isPlain = text.withUTF8 { $0.allSatisfy { (0x20..<0x7F).contains($0) } }
        return isPlain ? text : text.replacingScalars(escape)
    }
}

extension Unicode.Scalar {
    /// The escape of a control character, or of a character that divides lines or changes the direction of text. Nil for
    /// another character.
    var escape: String? {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
            "\\u" + String(0x10000 + value, radix: 16).dropFirst()
        default: nil
        }
    }
}

extension Substring.UnicodeScalarView {
    /// The maximum number of parameters of a sequence, in characters.
    private static let styleLength = 64

    /// The end of the SGR sequence `ESC [ … m` with which the text begins. Nil if it begins with something else.
    fileprivate var endOfStyle: Index? {
        var rest = dropFirst()
        guard rest.popFirst() == "[" else { return nil }
        let parameters = rest.prefix(Self.styleLength).prefix { ("0"..."9").contains($0) || $0 == ";" || $0 == ":" }
        guard parameters.endIndex < rest.endIndex, rest[parameters.endIndex] == "m" else { return nil }
        return rest.index(after: parameters.endIndex)
    }
}
