internal import Navigation
internal import Support

/// A condition on messages: `kind != event and data.playlistID == "p1"`. `docs/observing.md` describes the language.
///
/// The evaluation cannot fail: a missing value is `null`, and values of different JSON types are neither equal nor
/// ordered.
package struct WhereExpression: Hashable, Sendable {
    indirect enum Condition: Hashable, Sendable {
        case all([Condition])
        case any([Condition])
        case not(Condition)
        case comparison(MessagePath, WhereComparison, Operand)
        case among(MessagePath, [Operand])
        case glob(MessagePath, Glob)
        case exists(MessagePath)
    }

    enum Operand: Hashable, Sendable {
        case value(JSONValue)
        case path(MessagePath)
    }

    private let condition: Condition

    /// - Throws: ``SyntaxMistake``.
    package init(_ text: String) throws(SyntaxMistake) {
        var parser = WhereParser(try WhereToken.tokens(of: text))
        condition = try parser.parse()
    }

    package func matches(_ message: MessageValues) -> Bool {
        condition.isTrue(of: message)
    }

    /// The paths whose values the condition uses.
    package var paths: [MessagePath] { condition.paths }
}

extension WhereExpression.Condition {
    fileprivate var paths: [MessagePath] {
        switch self {
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.paths)
        case .not(let condition): condition.paths
        case .comparison(let path, _, let operand): [path] + [operand.path].compactMap(\.self)
        case .among(let path, let operands): [path] + operands.compactMap(\.path)
        case .glob(let path, _), .exists(let path): [path]
        }
    }
}

extension WhereExpression.Operand {
    fileprivate var path: MessagePath? {
        if case .path(let path) = self { path } else { nil }
    }
}

extension WhereExpression.Condition {
    func isTrue(of message: MessageValues) -> Bool {
        switch self {
        case .all(let conditions): conditions.allSatisfy { $0.isTrue(of: message) }
        case .any(let conditions): conditions.contains { $0.isTrue(of: message) }
        case .not(let condition): !condition.isTrue(of: message)
        case .comparison(let path, let comparison, let operand):
            comparison.holds(message[path], operand.value(in: message))
        case .among(let path, let operands): operands.contains { $0.value(in: message) == message[path] }
        case .glob(let path, let glob): message[path].stringValue.map(glob.matches) ?? false
        case .exists(let path): !message[path].isNull
        }
    }
}

extension WhereExpression.Operand {
    fileprivate func value(in message: MessageValues) -> JSONValue {
        switch self {
        case .value(let value): value
        case .path(let path): message[path]
        }
    }
}

/// A comparison of two values.
enum WhereComparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// True if the left value is a string that contains the right string, an array with the right value as an element,
    /// or an object with a member whose name is the right string.
    case contains

    func holds(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left.isBefore(right)
        case .lessOrEqual: left.isBefore(right) || left.hasOrder && left == right
        case .greater: right.isBefore(left)
        case .greaterOrEqual: right.isBefore(left) || left.hasOrder && left == right
        case .contains: left.contains(right)
        }
    }
}

extension JSONValue {
    fileprivate var hasOrder: Bool { numberValue != nil || stringValue != nil }

    fileprivate func isBefore(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left < right
        // Integers are not converted to floating-point numbers, because different large integers would become equal.
        case (.integer(let left), .integer(let right)): left < right
        default: if let left = numberValue, let right = other.numberValue { left < right } else { false }
        }
    }

    fileprivate func contains(_ part: JSONValue) -> Bool {
        switch self {
        case .string(let text): part.stringValue.map { text.contains($0) } ?? false
        case .array(let elements): elements.contains(part)
        case .object(let members): part.stringValue.map { members[$0] != nil } ?? false
        default: false
        }
    }
}
