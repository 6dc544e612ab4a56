extension JSONSchema {
    /// Returns the differences between a value and this schema; empty if the value is valid.
    ///
    /// An unknown member is a problem too.
    ///
    /// - Parameters:
    ///   - path: The name of the value in the problems' paths.
    ///   - type: Returns the type of the values for which a string is a placeholder. Nil for a string that is itself
    ///     the value.
    package func problems(
        with value: JSONValue, at path: String = "data", type: (String) -> JSONSchema? = { _ in nil }
    ) -> [SchemaProblem] {
        if case .string(let text) = value, let type = type(text) {
            guard refuses(type) else { return [] }
            return [SchemaProblem(path: path, message: "expected \(self), and '\(text)' is \(type)", kind: .type)]
        }
        return switch (self, value) {
        case (.any, _), (.boolean, .bool), (.string, .string), (.number, .integer), (.number, .number): []
        case (.nullable, .null): []
        case (.nullable(let schema), _): schema.problems(with: value, at: path, type: type)
        case (.integer, _) where value.integerValue != nil: []
        case (.range(let schema, let least, let most), _):
            schema.problems(with: value, at: path) + bounded(value, from: least, to: most, at: path)
        case (.enumeration(let values), _) where values.contains(value): []
        case (.enumeration(let values), _): [unlisted(value, among: values, at: path)]
        case (.array(let elements), .array(let list)):
            list.enumerated().flatMap { elements.problems(with: $1, at: "\(path)[\($0)]", type: type) }
        case (.map(let members), .object(let object)):
            object.sorted { $0.key < $1.key }.flatMap { members.problems(with: $1, at: "\(path).\($0)", type: type) }
        case (.object(let members), .object(let object)): Self.problems(with: object, members, path, type)
        default: [SchemaProblem(path: path, message: "expected \(self), found \(value.kind)")]
        }
    }

    private func bounded(_ value: JSONValue, from least: Double?, to most: Double?, at path: String) -> [SchemaProblem]
    {
        guard let number = value.numberValue, number < least ?? number || number > most ?? number else { return [] }
        return [SchemaProblem(path: path, message: "expected \(self), found \(value.brief)")]
    }

    private func unlisted(_ value: JSONValue, among values: [JSONValue], at path: String) -> SchemaProblem {
        let near = value.stringValue.flatMap { Spelling.nearest(to: $0, in: values.compactMap(\.stringValue)) }
        let advice = near.map { "; did you mean \"\($0)\"?" } ?? ""
        return SchemaProblem(path: path, message: "expected \(self), found \(value.brief)\(advice)")
    }

    private static func problems(
        with object: [String: JSONValue], _ members: [String: Property], _ path: String,
        _ type: (String) -> JSONSchema?
    ) -> [SchemaProblem] {
        var problems: [SchemaProblem] = []
        var meant: Set<String> = []
        let absent = members.keys.filter { object[$0] == nil }
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            if let member = members[name] {
                if member.isRequired || !value.isNull {
                    problems += member.schema.problems(with: value, at: "\(path).\(name)", type: type)
                }
                continue
            }
            let near = Spelling.nearest(to: name, in: absent)
            if let near { meant.insert(near) }
            let advice =
                members.isEmpty ? "there are no fields" : near.map { "did you mean '\($0)'?" } ?? known(members.keys)
            problems.append(
                SchemaProblem(path: "\(path).\(name)", message: "unknown field; \(advice)", kind: .unknown))
        }
        // A missing member is not reported if the advice for an unknown member has named it already.
        for name in absent.sorted() where !meant.contains(name) {
            guard let member = members[name], member.isRequired else { continue }
            problems.append(
                SchemaProblem(
                    path: "\(path).\(name)", message: "missing; expected \(member.schema)", kind: .missing))
        }
        return problems
    }

    private static func known(_ names: some Sequence<String>) -> String {
        "known: \(names.sorted().joined(separator: ", "))"
    }

    /// True if a value of the other schema can have another type than this schema requires, or if the other schema lists
    /// or bounds its values and this schema refuses some of them. A schema without a list or bounds may have values
    /// that this schema refuses: `string` is not refused where one of several strings is required.
    package func refuses(_ other: JSONSchema) -> Bool {
        switch (self, other) {
        case (.any, _), (_, .any), (.number, .integer): false
        case (.nullable(let schema), _): schema.refuses(other)
        case (_, .nullable(let other)): refuses(other)
        case (_, .enumeration(let values)): values.contains(where: refuses)
        case (.enumeration(let values), _): values.allSatisfy(other.refuses)
        case (.range(let schema, let least, let most), .range(let other, let lowest, let highest)):
            schema.refuses(other)
                || [lowest, highest].compactMap(\.self).contains { $0 < least ?? $0 || $0 > most ?? $0 }
        case (.range(let schema, _, _), _): schema.refuses(other)
        case (_, .range(let schema, _, _)): refuses(schema)
        case (.array(let elements), .array(let others)): elements.refuses(others)
        case (.map(let members), .map(let others)): members.refuses(others)
        case (.map(let members), .object(let others)): others.values.contains { members.refuses($0.schema) }
        case (.object, .map): false
        case (.object(let members), .object(let others)):
            members.contains { name, member in
                others[name].map { member.schema.refuses($0.schema) } ?? member.isRequired
            }
        default: self != other
        }
    }

    private func refuses(_ value: JSONValue) -> Bool { !problems(with: value).isEmpty }

    /// A reason why a reader cannot accept some values that a writer may send.
    package struct Clash: Hashable, Sendable {
        package enum Reason: Hashable, Sendable {
            /// The writer never sends the member, but the reader requires it.
            case missing
            /// The writer may leave the member out, but the reader requires it.
            case optional
            /// The writer may send `null`, but the reader does not accept it.
            case null
            /// The writer may send this value, but the reader does not know it.
            case value(JSONValue)
            /// The writer sends another type of value than the reader expects.
            case form(writes: JSONSchema, reads: JSONSchema)
        }

        /// The path of the value, such as `data.songs[].title`.
        package let path: String
        package let reason: Reason
    }

    /// Returns the places where a reader of this schema cannot accept some values that a writer of the other schema may
    /// send. The reader ignores unknown members, as `Codable` does.
    ///
    /// - Parameter path: The name of the value in the clashes' paths.
    package func clashes(readingFrom writer: JSONSchema, at path: String = "data") -> [Clash] {
        switch (self, writer) {
        case (.any, _), (.number, .integer), (.map(.any), .object): []
        case (.nullable(let reader), .nullable(let writer)): reader.clashes(readingFrom: writer, at: path)
        case (.range(let reader, let least, let most), .range(let schema, let lowest, let highest))
        where (least ?? -.infinity) <= (lowest ?? -.infinity) && (highest ?? .infinity) <= (most ?? .infinity):
            reader.clashes(readingFrom: schema, at: path)
        case (.integer, .range(let schema, _, _)), (.number, .range(let schema, _, _)):
            clashes(readingFrom: schema, at: path)
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

/// A difference between a value and its schema.
package struct SchemaProblem: Hashable, Sendable, CustomStringConvertible {
    /// The path of the value, such as `data.songs[2].title`.
    package let path: String
    /// The problem in one line.
    package let message: String
    package var kind = Kind.value

    package enum Kind: Hashable, Sendable {
        /// A required member is absent.
        case missing
        /// The schema has no such member.
        case unknown
        /// The value has another type, or is not one of the allowed values.
        case value
        /// The string is a placeholder for values of another type.
        case type
    }

    package var description: String { "\(path): \(message)" }
}

extension JSONValue {
    /// The type of the value in words.
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

    /// The value as JSON, or only its type in words if the JSON has more than 60 characters.
    fileprivate var brief: String {
        let text = description
        return text.count <= 60 ? text : kind
    }
}
