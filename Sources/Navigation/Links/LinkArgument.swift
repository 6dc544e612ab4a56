internal import Support

/// An argument of a screen that a deep link opens, or a field of a command that it sends.
enum LinkArgument: Equatable {
    case constant(JSONValue)
    /// The URL's value that `${url.NAME}` or `${url.NAME:-DEFAULT}` refers to. The default is nil if there is none.
    case placeholder(String, fallback: String?)
    /// Any other value with a template in it.
    case unreadable

    init(_ value: JSONValue) {
        if let (inside, rest) = value.stringValue?.removing(prefix: "${url.")?.cut(at: "}"), rest.isEmpty {
            let (name, fallback) = inside.cut(at: ":-").map { ($0.before, $0.after) } ?? (inside, nil)
            let isReadable =
                !name.isEmpty && !name.contains(scalarOf: "${}.:") && fallback?.contains(scalarOf: "${") != true
            self = isReadable ? .placeholder(String(name), fallback: fallback.map(String.init)) : .unreadable
        } else {
            self = Self.constant(value).map { .constant($0) } ?? .unreadable
        }
    }

    var isConstant: Bool { if case .constant = self { true } else { false } }

    /// The value, with `${` for each `$${`. Nil if it contains a template.
    private static func constant(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .string(let text):
            guard text.contains(scalars: "${") else { return value }
            let isTemplate = text.replacing(scalars: "$${", with: "").contains(scalars: "${")
            return isTemplate ? nil : .string(text.replacing(scalars: "$${", with: "${"))
        case .array(let elements):
            let constants = elements.compactMap(constant)
            return constants.count == elements.count ? .array(constants) : nil
        case .object(let members):
            let constants = members.compactMapValues(constant)
            return constants.count == members.count ? .object(constants) : nil
        default: return value
        }
    }
}

extension LinkArgument {
    /// The name of the URL's value. Nil if the argument refers to none.
    var placeholder: String? { if case .placeholder(let name, _) = self { name } else { nil } }
}

// The rule by which arguments compare, in conditions and in links.
extension JSONValue {
    /// True if both are the same argument: equal values, or a number or a boolean and the text that writes it as JSON
    /// does. `5` and `5.0` are the same argument as `"5"`, but not as `"05"`.
    func isSameArgument(as other: JSONValue) -> Bool {
        if self == other { return true }
        guard let text = argumentText, let other = other.argumentText else { return false }
        return text == other
    }

    /// The text of the value in a URL. Nil for null, arrays and objects.
    package var argumentText: String? {
        switch self {
        case .string(let text): text
        case .integer, .number, .bool: description
        case .null, .array, .object: nil
        }
    }
}
