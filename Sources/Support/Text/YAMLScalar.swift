/// The YAML text of single values, and the values of plain text. A string that would be read as another value is quoted.
package enum YAMLScalar {
    package static func text(of value: JSONValue) -> String {
        guard case .string(let string) = value else { return value.description }
        return isPlain(string) ? string : quoted(string)
    }

    /// False if the value may need quotes within a list on one line.
    package static func isPlainInLists(_ value: JSONValue) -> Bool {
        guard case .string(let string) = value else { return true }
        return isPlain(string) && !string.contains(scalarOf: ",[]{}:")
    }

    /// Converts a plain scalar. `on`, `yes`, `no`, `1:30` and `2026-11-21` are strings, as in YAML 1.2.
    package static func value(ofPlain text: String) -> JSONValue {
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let value = Int(text) { return .integer(value) }
        // `Double` also parses `nan` and `infinity`, which are strings here.
        guard let first = text.unicodeScalars.first, first.isASCIIDigit || "+-.".unicodeScalars.contains(first),
            let value = Double(text), value.isFinite
        else { return .string(text) }
        return .number(value)
    }

    private static func isPlain(_ string: String) -> Bool {
        let scalars = string.unicodeScalars
        // These characters have a meaning in YAML at the beginning of a value; `<<` and `=` have one for some parsers.
        guard let first = scalars.first, !" -?:,[]{}#&*!|>'\"%@`<=".unicodeScalars.contains(first) else { return false }
        guard let last = scalars.last, last != " ", last != ":" else { return false }
        let hasSign = zip(scalars, scalars.dropFirst()).contains { $0 == ":" && $1 == " " || $0 == " " && $1 == "#" }
        return !hasSign && scalars.allSatisfy(isPrintable) && value(ofPlain: string) == .string(string)
    }

    /// Returns the string in double quotes, with JSON's escapes.
    private static func quoted(_ string: String) -> String {
        JSONValue.string(string).description.replacingScalars { isPrintable($0) ? nil : escaped($0) }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// True for a character that is written without an escape.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2028, 0x2029, 0xFEFF: false
        case 0x20...0x7E, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...: true
        default: false
        }
    }
}
