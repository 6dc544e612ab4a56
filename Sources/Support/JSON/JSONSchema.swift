/// The schema of the JSON data of a message. It covers the part of JSON Schema that can be derived from a Swift type's
/// `Codable` conformance.
public indirect enum JSONSchema: Hashable, Sendable {
    /// Any JSON value.
    case any
    case boolean
    case integer
    case number
    /// A number of the given schema, which is `integer` or `number`, from `atLeast` to `atMost`. A bound is nil if there
    /// is none.
    case range(JSONSchema, atLeast: Double? = nil, atMost: Double? = nil)
    case string
    /// One of the given values.
    case enumeration([JSONValue])
    case array(JSONSchema)
    /// An object with arbitrary keys whose values all have the same schema.
    case map(JSONSchema)
    /// An object with the given members, by name.
    case object([String: Property])
    /// The given schema or `null`.
    case nullable(JSONSchema)

    /// A member of an object.
    public struct Property: Hashable, Sendable {
        public var schema: JSONSchema
        /// True if the member must be present. An optional member may also be `null`.
        public var isRequired: Bool

        public init(_ schema: JSONSchema, isRequired: Bool = true) {
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// The members of an object. Nil if the schema is not an object with known members.
    package var members: [String: Property]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Returns the schema of an object with the given members, all of them required.
    public static func object(requiring members: [String: JSONSchema]) -> JSONSchema {
        .object(members.mapValues { Property($0) })
    }
}

extension JSONSchema: CustomStringConvertible {
    /// The schema in words, such as `a string`.
    public var description: String {
        switch self {
        case .any: "anything"
        case .boolean: "a boolean"
        case .integer: "a whole number"
        case .number: "a number"
        case .range(let schema, let least, let most):
            switch (least, most) {
            case (let least?, let most?): "\(schema) from \(JSONValue.number(least)) to \(JSONValue.number(most))"
            case (let least?, nil): "\(schema) of at least \(JSONValue.number(least))"
            case (nil, let most?): "\(schema) of at most \(JSONValue.number(most))"
            case (nil, nil): schema.description
            }
        case .string: "a string"
        case .enumeration(let values): "one of \(values.map(\.description).joined(separator: ", "))"
        case .array: "a list"
        case .map, .object: "an object"
        case .nullable(let schema): "\(schema) or null"
        }
    }
}

extension JSONSchema: Codable {
    /// The schema as JSON Schema.
    public var json: JSONValue {
        switch self {
        case .any: [:]
        case .boolean: ["type": "boolean"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .range(let schema, let least, let most):
            .object(
                members: (schema.json.objectValue ?? [:]).map { ($0, $1) } + [
                    ("minimum", least.map { .number($0) }), ("maximum", most.map { .number($0) }),
                ])
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

    /// Reads a JSON Schema. Keywords that ``json`` never writes are ignored, so the result may allow more than the
    /// original.
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
        case "integer": self = Self.integer.within(json)
        case "number": self = Self.number.within(json)
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

    /// This schema of numbers with the bounds of a JSON Schema.
    private func within(_ json: JSONValue) -> JSONSchema {
        let (least, most) = (json["minimum"]?.numberValue, json["maximum"]?.numberValue)
        return least == nil && most == nil ? self : .range(self, atLeast: least, atMost: most)
    }

    public init(from decoder: any Decoder) throws {
        self.init(try JSONValue(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
