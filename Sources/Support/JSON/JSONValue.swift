/// A JSON value (RFC 8259), such as the data of a message or the arguments of a screen.
///
/// Whole numbers and fractions are two cases, so that whole numbers that fit in 64 bits keep all their digits. The two
/// cases compare by value: `1` and `1.0` are equal.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number that fits in 64 bits. Parsing `1.0` or `1e3` gives a `number` instead.
    case integer(Int)
    /// Any other number. JSON cannot represent infinities and NaN: encoding one of them throws.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. The order of its members has no meaning.
    case object([String: JSONValue])

    /// The member `name` of an object. Nil if there is no such member, or if this is not an object.
    public subscript(name: String) -> JSONValue? {
        objectValue?[name]
    }

    /// The element at `index` of an array. Nil if the index is out of range, or if this is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard let elements = arrayValue, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value at a dotted path: `songs.0.title` is the title of the first song.
    ///
    /// A part of digits is an index in an array and a name in an object.
    ///
    /// - Parameter path: Member names and indices, joined by dots. The empty path means this value itself.
    /// - Returns: The value. Nil if there is none at this path.
    public func value(at path: String) -> JSONValue? {
        value(at: path.split(scalar: ".").map(String.init))
    }

    /// The value at a path that is split into its parts.
    package func value(at path: [String]) -> JSONValue? {
        path.reduce(self as JSONValue?) { value, part in
            guard case .array = value else { return value?[part] }
            return Int(part).flatMap { value?[$0] }
        }
    }

    /// True if this is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean. Nil if this is not a Boolean.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The whole number; `1.0` counts as `1`. Nil if this is not a whole number, or if it does not fit in 64 bits.
    public var integerValue: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number. Nil if this is not a number.
    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The string. Nil if this is not a string.
    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of the array. Nil if this is not an array.
    public var arrayValue: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members of the object. Nil if this is not an object.
    public var objectValue: [String: JSONValue]? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// An object of the members whose value is not nil.
    package static func object(members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.reduce(into: [:]) { object, member in object[member.0] = member.1 })
    }
}

extension JSONValue: Hashable {
    /// Compares two JSON values. Numbers compare by value: `1` and `1.0` are equal.
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

    /// Hashes the value. Equal numbers have equal hashes, also if one is an `integer` and the other a `number`.
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

// This type intentionally does not conform to `ExpressibleByNilLiteral`. If `nil` were a literal of it, then where a
// `JSONValue?` is expected, `nil` could mean either "no value" or the JSON value `null`, depending on type inference.
// Write `.null`.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }

    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }

    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object. Of two members with the same name the first one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }
}

extension JSONValue: Codable {
    /// The maximum depth in the decoded value. Each type that does not fit makes an error with the path of the value, so
    /// without a limit a hostile value would take seconds: the time grows with the square of the depth.
    private static let decodedDepth = 128

    /// Decodes any JSON value.
    ///
    /// - Throws: `DecodingError` if the decoder's value is not a JSON value, or is more than 128 levels deep.
    public init(from decoder: any Decoder) throws {
        if let reader = decoder as? JSONReader {
            self = try reader.value()
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if container.decodeNil() {
            self = .null
        } else if decoder.codingPath.count >= Self.decodedDepth {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "nested more than \(Self.decodedDepth) levels deep")
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` for an infinity or NaN.
    public func encode(to encoder: any Encoder) throws {
        if let node = encoder as? JSONNode { return try node.write(self) }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON. The members of objects are ordered by the code points of their names.
    ///
    /// Equal values have equal descriptions if the strings in them have equal bytes.
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
