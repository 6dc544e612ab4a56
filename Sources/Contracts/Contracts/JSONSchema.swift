public import Support

/// What JSON a message carries: the part of JSON Schema (draft 2020-12, and as it stands in AsyncAPI 3.0) that Swift's
/// `Codable` can tell of a type.
public indirect enum JSONSchema: Hashable, Sendable {
    /// Whatever there is in JSON.
    case any
    case boolean
    case integer
    case number
    case string
    /// One of these values.
    case enumeration([JSONValue])
    case array(JSONSchema)
    /// An object whose members have names of their own, and all the same schema.
    case map(JSONSchema)
    /// An object with these members, by their names.
    case object([String: Property])
    /// Also `null`.
    case nullable(JSONSchema)

    /// A member of an object.
    public struct Property: Hashable, Sendable {
        public var schema: JSONSchema
        /// Whether it has to be there. One that has not may as well be `null`: to `Codable` that is the same.
        public var isRequired: Bool

        public init(_ schema: JSONSchema, isRequired: Bool = true) {
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// An object that has to have all of these members.
    public static func object(requiring members: [String: JSONSchema]) -> JSONSchema {
        .object(members.mapValues { Property($0) })
    }
}

extension JSONSchema: CustomStringConvertible {
    /// In words for a person, as in `a string`.
    public var description: String {
        switch self {
        case .any: "anything"
        case .boolean: "a boolean"
        case .integer: "a whole number"
        case .number: "a number"
        case .string: "a string"
        case .enumeration(let values): "one of \(values.map(\.description).joined(separator: ", "))"
        case .array: "a list"
        case .map, .object: "an object"
        case .nullable(let schema): "\(schema) or null"
        }
    }
}

extension JSONSchema: Codable {
    /// As JSON Schema writes it.
    public var json: JSONValue {
        switch self {
        case .any: [:]
        case .boolean: ["type": "boolean"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .string: ["type": "string"]
        case .enumeration(let values): ["enum": .array(values)]
        case .array(let elements): ["type": "array", "items": elements.json]
        case .map(let members): ["type": "object", "additionalProperties": members.json]
        case .object(let members):
            [
                "type": "object", "properties": .object(members.mapValues(\.schema.json)),
                "required": .array(members.filter(\.value.isRequired).keys.sorted().map(JSONValue.string)),
            ]
        case .nullable(let schema): ["anyOf": [schema.json, ["type": "null"]]]
        }
    }

    /// Reads what ``json`` writes. What else JSON Schema knows says less here than it could: such a schema allows more.
    public init(_ json: JSONValue) {
        if let values = json["enum"]?.arrayValue {
            self = .enumeration(values)
        } else if let choices = json["anyOf"]?.arrayValue {
            let others = choices.filter { $0["type"] != "null" }
            guard let one = others.first, others.count == 1 else { self = .any; return }
            self = others.count < choices.count ? .nullable(JSONSchema(one)) : JSONSchema(one)
        } else {
            self.init(typed: json)
        }
    }

    private init(typed json: JSONValue) {
        switch json["type"]?.stringValue {
        case "boolean": self = .boolean
        case "integer": self = .integer
        case "number": self = .number
        case "string": self = .string
        case "array": self = .array(json["items"].map { JSONSchema($0) } ?? .any)
        case "object":
            if let members = json["properties"]?.objectValue {
                let required = Set((json["required"]?.arrayValue ?? []).compactMap(\.stringValue))
                self = .object(
                    Dictionary(
                        uniqueKeysWithValues: members.map {
                            ($0.key, Property(JSONSchema($0.value), isRequired: required.contains($0.key)))
                        }))
            } else {
                self = .map(json["additionalProperties"].map { JSONSchema($0) } ?? .any)
            }
        default: self = .any
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(try JSONValue(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
