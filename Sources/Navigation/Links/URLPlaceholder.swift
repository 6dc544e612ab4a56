internal import Support

extension URLPattern {
    /// A placeholder in a pattern, such as `{itemID}`, `{minutes:integer}`, `{page?:integer}` or `{path...}`.
    struct Placeholder: Hashable, Sendable {
        let name: String
        let type: ValueType
        let extent: Extent

        /// The part of a URL that a placeholder matches.
        enum Extent: Hashable, Sendable {
            /// A segment of the path, a part of one, or the value of a query parameter.
            case one
            /// The last segment of the path, which may be missing: `{name?}`.
            case optional
            /// All further segments of the path, at least one, joined by `/`: `{name...}`.
            case rest
        }

        /// Parses the text between the braces.
        init(_ text: String) throws(Problem) {
            let (label, word) = text.cut(at: ":").map { (String($0.before), String($0.after)) } ?? (text, nil)
            if let name = label.removing(suffix: "...") {
                (self.name, extent) = (String(name), .rest)
            } else if let name = label.removing(suffix: "?") {
                (self.name, extent) = (String(name), .optional)
            } else {
                (name, extent) = (label, .one)
            }
            guard !name.isEmpty, name.split(scalar: "_").allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber } }),
                extent != .rest || word == nil
            else { throw .malformed("{\(text)}") }
            guard let word else {
                type = .string
                return
            }
            guard let type = ValueType(rawValue: word) else { throw .unknownType(word) }
            self.type = type
        }
    }

    /// The type of the value that a placeholder gives.
    enum ValueType: String, Hashable, Sendable, CaseIterable {
        case string
        /// A whole number in ``SafeIntegers``.
        case integer
        /// A number between the bounds of ``SafeIntegers``.
        case number
        case boolean

        /// The value that a decoded text gives. Nil if the text is not what JSON writes for a value of this type: `05`,
        /// `+5` and `5.0` are not integers. So each value has one URL.
        func value(of text: String) -> JSONValue? {
            switch self {
            case .string: return .string(text)
            case .boolean: return Bool(text).map { .bool($0) }
            case .integer, .number:
                let whole = Int(text).map { JSONValue.integer($0) }
                let value = self == .integer ? whole : whole ?? Double(text).map { .number($0) }
                guard let value, value.description == text, let number = value.numberValue,
                    number.magnitude <= Double(SafeIntegers.greatest)
                else { return nil }
                return value
            }
        }

        /// The schema of all values of the type.
        var schema: JSONSchema {
            switch self {
            case .string: .string
            case .integer: .integer
            case .number: .number
            case .boolean: .boolean
            }
        }

        /// True if every text that gives a value of the other type also gives one of this type.
        func covers(_ other: ValueType) -> Bool {
            self == .string || self == other || self == .number && other == .integer
        }

        /// True if the schema allows some values of this type.
        func isAllowed(by schema: JSONSchema) -> Bool {
            switch schema {
            case .any: true
            case .string: self == .string
            case .integer: self == .integer
            case .number: self == .number || self == .integer
            case .boolean: self == .boolean
            case .range(let schema, _, _), .nullable(let schema): isAllowed(by: schema)
            case .enumeration(let values):
                values.contains { $0.argumentText.flatMap { value(of: $0) } == $0 }
            case .array, .map, .object: false
            }
        }

        /// True if the schema allows all values of this type.
        func isWhollyAllowed(by schema: JSONSchema) -> Bool {
            switch schema {
            case .nullable(let schema): isWhollyAllowed(by: schema)
            case .range, .enumeration: false
            default: isAllowed(by: schema)
            }
        }
    }
}
