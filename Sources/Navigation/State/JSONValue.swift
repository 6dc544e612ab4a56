/// A JSON value (RFC 8259) as Swift sees it: what a message carries, and what a screen's arguments are.
///
/// Whole numbers and fractions are two cases so that identifiers and counters never pass through floating point. They
/// compare by value all the same: JSON knows one kind of number, so `1` and `1.0` are equal.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits in 64 bits.
    case integer(Int)
    /// Any other number. JSON has no notation for infinities and NaN: encoding one throws.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. The order of its members means nothing.
    case object([String: JSONValue])
}

extension JSONValue: Hashable {
    /// Tells whether both are the same JSON value; numbers compare by value, not by how they are stored.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)):
            Int(exactly: number) == whole
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Feeds the value to `hasher`, a whole number alike in both of its representations.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value):
            if let whole = Int(exactly: value) { hasher.combine(whole) } else { hasher.combine(value) }
        case .string(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}
