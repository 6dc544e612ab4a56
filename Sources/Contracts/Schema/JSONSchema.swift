public import Navigation

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
