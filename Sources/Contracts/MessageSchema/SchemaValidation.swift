package import Contracts
package import Support

extension JSONSchema {
    /// What is wrong with a value; nothing, when it is as the schema says.
    ///
    /// A member that the schema does not know is a problem too: a reader would pass it over, and whoever wrote it would
    /// never hear of the slip.
    ///
    /// - Parameter path: what the value is called.
    package func problems(with value: JSONValue, at path: String = "data") -> [SchemaProblem] {
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
    package struct Clash: Hashable, Sendable {
        package enum Reason: Hashable, Sendable {
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
        package let path: String
        package let reason: Reason
    }

    /// Where a reader of this schema cannot take what a writer of another sends. Members that it does not know are passed
    /// over, as `Codable` does.
    ///
    /// - Parameter path: what the value is called.
    package func clashes(readingFrom writer: JSONSchema, at path: String = "data") -> [Clash] {
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

/// What is wrong with a value, by the schema that it should have.
package struct SchemaProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where, as in `data.songs[2].title`.
    package let path: String
    /// One line: what is wrong there, and what was perhaps meant.
    package let message: String

    package var description: String { "\(path): \(message)" }
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
