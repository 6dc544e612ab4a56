extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON with the members of objects in the order of their names' code points.
    ///
    /// Equal values have equal text on every platform, so it serves as a canonical form to hash and compare. It is
    /// written here because the order that Foundation's sorted keys follow is not the same in all of its versions.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Int(exactly: value).map(String.init) ?? String(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let elements):
            Self.write(elements, between: ("[", "]"), to: &text) { $0.write(to: &$1) }
        case .object(let members):
            let sorted = members.sorted { $0.key.unicodeScalars.lexicographicallyPrecedes($1.key.unicodeScalars) }
            Self.write(sorted, between: ("{", "}"), to: &text) { member, text in
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element],
        between brackets: (String, String),
        to text: inout String,
        each: (Element, inout String) -> Void
    ) {
        text += brackets.0
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            each(element, &text)
        }
        text += brackets.1
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case ..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
