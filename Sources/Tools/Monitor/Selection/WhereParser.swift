internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// Parses tokens to a condition. `not` has the highest precedence, then `and`, then `or`.
struct WhereParser {
    /// The maximum depth of nested parentheses and `not`. A deeper expression is an error.
    private static let depthLimit = 64

    private let tokens: [WhereToken]
    private var index = 0
    private var depth = 0

    /// - Parameter tokens: The tokens of an expression. The last token is the end.
    init(_ tokens: [WhereToken]) {
        self.tokens = tokens
    }

    /// - Throws: ``SyntaxMistake``.
    mutating func parse() throws(SyntaxMistake) -> WhereExpression.Condition {
        let condition = try parseAny()
        guard token.kind == .end else { throw mistake("expected 'and' or 'or' instead of \(token.name)") }
        return condition
    }

    private mutating func parseAny() throws(SyntaxMistake) -> WhereExpression.Condition {
        var conditions = [try parseAll()]
        while consume("or", "||") { conditions.append(try parseAll()) }
        return conditions.count == 1 ? conditions[0] : .any(conditions)
    }

    private mutating func parseAll() throws(SyntaxMistake) -> WhereExpression.Condition {
        var conditions = [try parseOne()]
        while consume("and", "&&") { conditions.append(try parseOne()) }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private mutating func parseOne() throws(SyntaxMistake) -> WhereExpression.Condition {
        guard depth < Self.depthLimit else {
            throw mistake("the expression is nested more than \(Self.depthLimit) levels deep")
        }
        depth += 1
        defer { depth -= 1 }
        if consume("not", "!") { return .not(try parseOne()) }
        guard consume("(") else { return try parseTest() }
        let condition = try parseAny()
        guard consume(")") else { throw mistake("expected ')' instead of \(token.name)") }
        return condition
    }

    private mutating func parseTest() throws(SyntaxMistake) -> WhereExpression.Condition {
        guard case .word(let text) = token.kind else { throw mistake("expected a path such as type or data.url") }
        let path = try MessagePath(text, column: token.column)
        index += 1
        if consume("exists") { return .exists(path) }
        if consume("in") { return .among(path, try parseOperands(for: path)) }
        if consume("matches") { return .glob(path, try parseGlob()) }
        let sign = token
        guard let comparison else {
            let advice = sign.kind == .sign("=") ? "; did you mean '=='?" : ""
            throw mistake("expected a comparison such as '==' or 'exists' after '\(text)'\(advice)")
        }
        index += 1
        return .comparison(path, comparison, try parseOperand(for: path, with: comparison, after: sign))
    }

    private var comparison: WhereComparison? {
        switch token.kind {
        case .sign(let text), .word(let text): WhereComparison(rawValue: text)
        case .text, .end: nil
        }
    }

    private mutating func parseOperands(for path: MessagePath) throws(SyntaxMistake) -> [WhereExpression.Operand] {
        guard consume("[") else { throw mistake("expected '[' after 'in'") }
        var operands: [WhereExpression.Operand] = []
        repeat {
            operands.append(try parseOperand(for: path, with: .equal, after: tokens[index - 1]))
        } while consume(",")
        guard consume("]") else { throw mistake("expected ',' or ']' instead of \(token.name)") }
        return operands
    }

    private mutating func parseGlob() throws(SyntaxMistake) -> Glob {
        switch token.kind {
        case .word(let text), .text(let text):
            index += 1
            return Glob(text)
        case .sign, .end: throw mistake("expected a pattern such as 'music-*' after 'matches'")
        }
    }

    private mutating func parseOperand(
        for path: MessagePath, with comparison: WhereComparison, after sign: WhereToken
    ) throws(SyntaxMistake) -> WhereExpression.Operand {
        let place = token
        index += 1
        switch place.kind {
        case .text(let text): return .value(.string(try checked(text, for: path, with: comparison, at: place)))
        case .word(let text):
            // The only words that are JSON are numbers, `true`, `false` and `null`.
            if let value = try? JSONValue(parsing: Data(text.utf8)) { return .value(value) }
            // A message type is also a word with a dot, so only a member's name and a word that begins with `data.` or
            // `data[` are read as a path.
            if MessageMember(rawValue: text) != nil || text.begins(with: "data.") || text.begins(with: "data[") {
                return .path(try MessagePath(text, column: place.column))
            }
            return .value(.string(try checked(text, for: path, with: comparison, at: place)))
        case .sign, .end:
            throw SyntaxMistake("expected a value after \(sign.name)", column: place.column)
        }
    }

    /// Checks a string that is compared with a path, except for `contains`. An unknown kind or an invalid time is an
    /// error. A time is converted to the form of the times in messages.
    private func checked(
        _ text: String, for path: MessagePath, with comparison: WhereComparison, at place: WhereToken
    ) throws(SyntaxMistake) -> String {
        guard comparison != .contains else { return text }
        if path.member == .kind, MessageKind(rawValue: text) == nil {
            let kinds = MessageKind.allCases.map(\.rawValue)
            let advice = Spelling.nearest(to: text, in: kinds).map { "did you mean \($0)?" }
            throw SyntaxMistake(
                "'\(text)' is not a kind; \(advice ?? "kinds are \(kinds.joined(separator: ", "))")",
                column: place.column)
        }
        guard path.member.isTime else { return text }
        guard let time = Timestamp.date(from: text) else {
            throw SyntaxMistake("'\(text)' is not a time; write it as 2026-03-01T12:00:00Z", column: place.column)
        }
        return Timestamp.text(of: time)
    }

    private var token: WhereToken { tokens[index] }

    private mutating func consume(_ spellings: String...) -> Bool {
        switch token.kind {
        case .word(let text), .sign(let text):
            guard spellings.contains(text) else { return false }
            index += 1
            return true
        case .text, .end: return false
        }
    }

    private func mistake(_ message: String) -> SyntaxMistake {
        SyntaxMistake(message, column: token.column)
    }
}

/// A word, a quoted string or a sign of a where expression.
struct WhereToken: Hashable {
    enum Kind: Hashable {
        case word(String)
        case text(String)
        /// An operator or a delimiter. `&&`, `||` and `!` mean the same as the words `and`, `or` and `not`.
        case sign(String)
        case end
    }

    let kind: Kind
    let column: Int

    /// The token as it is written in error messages.
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

/// Splits an expression into tokens.
private struct WhereLexer {
    private static let signs = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", "="]

    private let scalars: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    mutating func next() throws(SyntaxMistake) -> WhereToken {
        while let scalar = peek, scalar.properties.isWhitespace { index += 1 }
        let column = index + 1
        guard let scalar = peek else { return WhereToken(kind: .end, column: column) }
        if scalar == "\"" || scalar == "'" {
            return WhereToken(kind: .text(try text(quotedBy: scalar)), column: column)
        }
        let word = word()
        if !word.isEmpty { return WhereToken(kind: .word(word), column: column) }
        guard let sign = Self.signs.first(where: { scalars[index...].starts(with: $0.unicodeScalars) }) else {
            throw SyntaxMistake("unexpected '\(scalar)'; put a string in quotes", column: column)
        }
        index += sign.unicodeScalars.count
        return WhereToken(kind: .sign(sign), column: column)
    }

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    /// Reads a path, a number, a type, a source or a pattern. An index such as `[0]` belongs to the path before it.
    private mutating func word() -> String {
        let start = index
        while let scalar = peek {
            if Self.isOfWord(scalar) {
                index += 1
            } else if index > start, let end = endOfIndex {
                index = end
            } else {
                break
            }
        }
        return text(from: start)
    }

    /// True for a character of a word. A mark, such as a combining accent, belongs to the letter before it.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber: true
        default: scalar.properties.isAlphabetic || "_-.*?/:@+".unicodeScalars.contains(scalar)
        }
    }

    private func text(from start: Int) -> String {
        String(String.UnicodeScalarView(scalars[start..<index]))
    }

    private var endOfIndex: Int? {
        guard let scalar = peek, scalar == "[" else { return nil }
        let end = scalars[(index + 1)...].firstIndex { !$0.isASCIIDigit } ?? scalars.count
        return end > index + 1 && end < scalars.count && scalars[end] == "]" ? end + 1 : nil
    }

    /// Reads a quoted string. Double quotes allow the escapes of JSON; single quotes have no escapes.
    private mutating func text(quotedBy quote: Unicode.Scalar) throws(SyntaxMistake) -> String {
        let start = index
        index += 1
        while let scalar = peek, scalar != quote {
            index += quote == "\"" && scalar == "\\" ? 2 : 1
        }
        guard peek == quote else { throw SyntaxMistake("the string is not closed; add \(quote)", column: start + 1) }
        index += 1
        let text = text(from: start)
        guard quote == "\"" else { return String(text.unicodeScalars.dropFirst().dropLast()) }
        guard let string = (try? JSONValue(parsing: Data(text.utf8)))?.stringValue else {
            throw SyntaxMistake(
                "this is not a JSON string; use the escapes of JSON, or single quotes", column: start + 1)
        }
        return string
    }
}
