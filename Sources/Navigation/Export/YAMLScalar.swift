/// How single values are written: plain where a reader of flows gets the same value back, else as JSON.
enum YAMLScalar {
    static func text(of value: JSONValue) -> String {
        guard case .string(let string) = value else { return value.description }
        return isPlain(string) ? string : quoted(string)
    }

    /// Whether the value needs no quotes between brackets and commas.
    static func isPlainInLists(_ value: JSONValue) -> Bool {
        guard case .string(let string) = value else { return true }
        return isPlain(string) && !string.contains { ",[]{}:".contains($0) }
    }

    private static func isPlain(_ string: String) -> Bool {
        // What begins with one of these means something to YAML; "<<" and "=" do to some who read it.
        guard let first = string.first, !"-?:,[]{}#&*!|>'\"%@`<=".contains(first) else { return false }
        guard string.last != ":", first != " ", string.last != " " else { return false }
        guard !string.contains(": "), !string.contains(" #") else { return false }
        return string.unicodeScalars.allSatisfy(isPrintable) && YAMLReader.value(ofPlain: string) == .string(string)
    }

    /// YAML's double quotes take JSON's escapes.
    private static func quoted(_ string: String) -> String {
        var text = ""
        for scalar in JSONValue.string(string).description.unicodeScalars {
            if isPrintable(scalar) { text.unicodeScalars.append(scalar) } else { text += escaped(scalar) }
        }
        return text
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// What YAML neither refuses nor takes for the end of a line.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2028, 0x2029, 0xFEFF: false
        case 0x20...0x7E, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...: true
        default: false
        }
    }
}
