/// A decoder that has nothing to give but samples, and notes what it is asked for.
final class ProbingDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    let probe: SchemaProbe
    /// What was asked for as a whole, or in turn.
    private var whole: JSONSchema?
    private var members: [String: Member]?
    /// Asked for with `contains`: a type that looks first can do without.
    private var optional: Set<String> = []

    private struct Member {
        let schema: () -> JSONSchema
        let isRequired: Bool
    }

    init(probe: SchemaProbe) {
        self.probe = probe
    }

    var schema: JSONSchema {
        if let members {
            return .object(members.mapValues { JSONSchema.Property($0.schema(), isRequired: $0.isRequired) })
        }
        // A type without members asks for nothing at all.
        return whole ?? .object([:])
    }

    /// Notes the first that was asked for: a type that would also take something else asks for its usual form first.
    func note(_ schema: JSONSchema) {
        if whole == nil { whole = schema }
    }

    func note(_ schema: @autoclosure @escaping () -> JSONSchema, for key: some CodingKey) {
        guard members?[key.stringValue] == nil else { return }
        members?[key.stringValue] = Member(schema: schema, isRequired: !optional.contains(key.stringValue))
    }

    func noteOptional(_ key: some CodingKey) {
        optional.insert(key.stringValue)
    }

    /// Notes that the names of members are not fixed.
    func noteAnyNames() {
        members = nil
        note(.map(.any))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if members == nil, whole == nil { members = [:] }
        return KeyedDecodingContainer(ProbingKeyedContainer(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ProbingListContainer(decoder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbingValueContainer(decoder: self) }
}
