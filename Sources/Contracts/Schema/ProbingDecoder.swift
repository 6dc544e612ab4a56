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

struct ProbingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbingDecoder
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        decoder.noteAnyNames()
        return []
    }

    func contains(_ key: Key) -> Bool {
        decoder.noteOptional(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let sample = try decoder.probe.sample(of: type)
        decoder.note(sample.schema, for: key)
        return sample.value
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedDecodingContainer<NestedKey> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { nested(key).unkeyedContainer() }

    func superDecoder() -> any Decoder { decoder }

    func superDecoder(forKey key: Key) -> any Decoder { nested(key) }

    private func nested(_ key: Key) -> ProbingDecoder {
        let inner = ProbingDecoder(probe: decoder.probe)
        decoder.note(inner.schema, for: key)
        return inner
    }
}

/// A list of one element.
struct ProbingListContainer: UnkeyedDecodingContainer {
    let decoder: ProbingDecoder
    let codingPath: [any CodingKey] = []
    let count: Int? = nil
    private(set) var currentIndex = 0

    init(decoder: ProbingDecoder) {
        self.decoder = decoder
    }

    var isAtEnd: Bool { currentIndex > 0 }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let sample = try decoder.probe.sample(of: type)
        // A second one is of another type: such a list is a tuple, of which no more is told.
        decoder.note(.array(sample.schema))
        currentIndex += 1
        return sample.value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedDecodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { nested().unkeyedContainer() }

    mutating func superDecoder() -> any Decoder { nested() }

    private mutating func nested() -> ProbingDecoder {
        decoder.note(.array(.any))
        currentIndex += 1
        return ProbingDecoder(probe: decoder.probe)
    }
}

struct ProbingValueContainer: SingleValueDecodingContainer {
    let decoder: ProbingDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let sample = try decoder.probe.sample(of: type)
        decoder.note(sample.schema)
        return sample.value
    }
}
