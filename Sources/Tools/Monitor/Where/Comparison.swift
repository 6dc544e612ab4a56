internal import Navigation

/// How two values are compared.
enum Comparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// A text has a part, an array an element, an object a member.
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
        // Whole numbers pass through no floating point: large ones would become equal.
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
