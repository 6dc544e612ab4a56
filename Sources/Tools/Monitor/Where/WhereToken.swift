internal import Foundation
internal import Navigation

/// A word, a quoted text or a sign of a where-expression.
struct WhereToken: Hashable {
    enum Kind: Hashable {
        case word(String)
        case text(String)
        /// `and`, `or` and `not` may be written `&&`, `||` and `!`.
        case sign(String)
        case end
    }

    let kind: Kind
    let column: Int

    /// How a mistake names it.
    var name: String {
        switch kind {
        case .word(let text), .sign(let text): "'\(text)'"
        case .text(let text): "\"\(text)\""
        case .end: "the end"
        }
    }

    /// - Throws: ``SyntaxMistake``.
    static func tokens(of text: String) throws(SyntaxMistake) -> [WhereToken] {
        var lexer = WhereLexer(text)
        var tokens: [WhereToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }
}

/// Takes an expression apart.
private struct WhereLexer {
    private static let signs = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", "="]

    private let characters: [Character]
    private var index = 0

    init(_ text: String) {
        characters = Array(text)
    }

    mutating func next() throws(SyntaxMistake) -> WhereToken {
        while let character = peek, character.isWhitespace { index += 1 }
        let column = index + 1
        guard let character = peek else { return WhereToken(kind: .end, column: column) }
        if character == "\"" || character == "'" {
            return WhereToken(kind: .text(try text(quotedBy: character)), column: column)
        }
        let word = word()
        if !word.isEmpty { return WhereToken(kind: .word(word), column: column) }
        guard let sign = Self.signs.first(where: { characters[index...].starts(with: $0) }) else {
            throw SyntaxMistake("'\(character)' has no meaning here", column: column)
        }
        index += sign.count
        return WhereToken(kind: .sign(sign), column: column)
    }

    private var peek: Character? { index < characters.count ? characters[index] : nil }

    /// What may stand in a path, a number, a type, a source or a pattern; an index belongs to the path before it.
    private mutating func word() -> String {
        let start = index
        while let character = peek {
            if character.isLetter || character.isNumber || "_-.*?/:@+".contains(character) {
                index += 1
            } else if index > start, let end = endOfIndex {
                index = end
            } else {
                break
            }
        }
        return String(characters[start..<index])
    }

    private var endOfIndex: Int? {
        guard peek == "[" else { return nil }
        let end = characters[(index + 1)...].firstIndex { !($0.isASCII && $0.isNumber) } ?? characters.count
        return end > index + 1 && end < characters.count && characters[end] == "]" ? end + 1 : nil
    }

    /// In double quotes the escapes of JSON, in single ones none.
    private mutating func text(quotedBy quote: Character) throws(SyntaxMistake) -> String {
        let start = index
        index += 1
        while let character = peek, character != quote {
            index += quote == "\"" && character == "\\" ? 2 : 1
        }
        guard peek == quote else { throw SyntaxMistake("a text is not closed", column: start + 1) }
        index += 1
        let text = String(characters[start..<index])
        guard quote == "\"" else { return String(text.dropFirst().dropLast()) }
        guard let string = (try? JSONValue(parsing: Data(text.utf8)))?.stringValue else {
            throw SyntaxMistake("a text in double quotes is written as in JSON", column: start + 1)
        }
        return string
    }
}
