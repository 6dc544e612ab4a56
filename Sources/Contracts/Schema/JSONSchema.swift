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

    /// What is wrong with a value; nothing, when it is as the schema says.
    ///
    /// A member that the schema does not know is a problem too: a reader would pass it over, and whoever wrote it would
    /// never hear of the slip.
    ///
    /// - Parameter path: what the value is called.
    public func problems(with value: JSONValue, at path: String = "data") -> [SchemaProblem] {
        switch (self, value) {
        case (.any, _), (.boolean, .bool), (.string, .string), (.number, .integer), (.number, .number): []
        case (.nullable, .null): []
        case (.nullable(let schema), _): schema.problems(with: value, at: path)
        case (.integer, _) where value.integerValue != nil: []
        case (.enumeration(let values), _) where values.contains(value): []
        case (.enumeration(let values), _): [unlisted(value, values, path)]
        case (.array(let elements), .array(let list)):
            list.enumerated().flatMap { elements.problems(with: $1, at: "\(path)[\($0)]") }
        case (.map(let members), .object(let object)):
            object.sorted { $0.key < $1.key }.flatMap { members.problems(with: $1, at: "\(path).\($0)") }
        case (.object(let members), .object(let object)): Self.problems(with: object, members, path)
        default: [SchemaProblem(path: path, message: "expected \(self), found \(value.kind)")]
        }
    }

    private func unlisted(_ value: JSONValue, _ values: [JSONValue], _ path: String) -> SchemaProblem {
        let near = value.stringValue.flatMap { Spelling.nearest(to: $0, in: values.compactMap(\.stringValue)) }
        let advice = near.map { "; did you mean \"\($0)\"?" } ?? ""
        return SchemaProblem(path: path, message: "expected \(self), found \(value.brief)\(advice)")
    }

    private static func problems(
        with object: [String: JSONValue], _ members: [String: Property], _ path: String
    ) -> [SchemaProblem] {
        var problems: [SchemaProblem] = []
        var meant: Set<String> = []
        let absent = members.keys.filter { object[$0] == nil }
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            if let member = members[name] {
                if member.isRequired || !value.isNull {
                    problems += member.schema.problems(with: value, at: "\(path).\(name)")
                }
                continue
            }
            let near = Spelling.nearest(to: name, in: absent)
            if let near { meant.insert(near) }
            let advice =
                members.isEmpty ? "there are none" : near.map { "did you mean '\($0)'?" } ?? known(members.keys)
            problems.append(SchemaProblem(path: "\(path).\(name)", message: "unknown field; \(advice)"))
        }
        // The one that was misspelt has been told.
        for name in absent.sorted() where !meant.contains(name) {
            guard let member = members[name], member.isRequired else { continue }
            problems.append(SchemaProblem(path: "\(path).\(name)", message: "missing; it is \(member.schema)"))
        }
        return problems
    }

    private static func known(_ names: some Sequence<String>) -> String {
        "known are \(names.sorted().joined(separator: ", "))"
    }

    /// Why a reader cannot take all that a writer may send.
    public struct Clash: Hashable, Sendable {
        public enum Reason: Hashable, Sendable {
            /// The writer never sends it, and the reader needs it.
            case missing
            /// The writer may leave it out, and the reader needs it.
            case optional
            /// The writer may send `null`.
            case null
            /// The writer may send this value, which the reader does not know.
            case value(JSONValue)
            /// The writer sends something else than the reader expects.
            case form(writes: JSONSchema, reads: JSONSchema)
        }

        /// Where, as in `data.songs[].title`.
        public let path: String
        public let reason: Reason
    }

    /// Where a reader of this schema cannot take what a writer of another sends. Members that it does not know are passed
    /// over, as `Codable` does.
    ///
    /// - Parameter path: what the value is called.
    public func clashes(readingFrom writer: JSONSchema, at path: String = "data") -> [Clash] {
        switch (self, writer) {
        case (.any, _), (.number, .integer), (.map(.any), .object): []
        case (.nullable(let reader), .nullable(let writer)): reader.clashes(readingFrom: writer, at: path)
        case (.nullable(let reader), _): reader.clashes(readingFrom: writer, at: path)
        case (_, .nullable(let writer)):
            [Clash(path: path, reason: .null)] + clashes(readingFrom: writer, at: path)
        case (.enumeration(let known), .enumeration(let sent)):
            sent.filter { !known.contains($0) }.map { Clash(path: path, reason: .value($0)) }
        case (_, .enumeration(let sent)) where sent.allSatisfy { problems(with: $0).isEmpty }: []
        case (.array(let reader), .array(let writer)): reader.clashes(readingFrom: writer, at: "\(path)[]")
        case (.map(let reader), .map(let writer)): reader.clashes(readingFrom: writer, at: "\(path).*")
        case (.map(let reader), .object(let writer)):
            writer.sorted { $0.key < $1.key }.flatMap {
                reader.clashes(readingFrom: $1.schema, at: "\(path).\($0)")
            }
        case (.object(let reader), .object(let writer)): Self.clashes(of: reader, readingFrom: writer, path)
        case _ where self == writer: []
        default: [Clash(path: path, reason: .form(writes: writer, reads: self))]
        }
    }

    private static func clashes(
        of reader: [String: Property], readingFrom writer: [String: Property], _ path: String
    ) -> [Clash] {
        reader.sorted { $0.key < $1.key }.flatMap { name, member -> [Clash] in
            let path = "\(path).\(name)"
            guard let sent = writer[name] else {
                return member.isRequired ? [Clash(path: path, reason: .missing)] : []
            }
            let isLeftOut = member.isRequired && !sent.isRequired
            return (isLeftOut ? [Clash(path: path, reason: .optional)] : [])
                + member.schema.clashes(readingFrom: sent.schema, at: path)
        }
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

extension JSONValue {
    /// In words for a person.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// Itself, unless that would be long.
    fileprivate var brief: String {
        let text = description
        return text.count <= 60 ? text : kind
    }
}

/// What is wrong with a value, by the schema that it should have.
public struct SchemaProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where, as in `data.songs[2].title`.
    public let path: String
    /// One line: what is wrong there, and what was perhaps meant.
    public let message: String

    public var description: String { "\(path): \(message)" }
}
