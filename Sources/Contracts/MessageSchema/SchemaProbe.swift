package import Contracts
internal import EventBus
internal import Support

extension DeclaredMessage {
    /// What it carries.
    /// - Throws: ``SchemaError`` when that cannot be told.
    package func contract() throws -> MessageContract {
        guard let message else { return MessageContract(type: type) }
        return try Self.contract(of: message)
    }

    private static func contract<M: Message>(of message: M.Type) throws -> MessageContract {
        let query = message as? any QueryMessage.Type
        return MessageContract(
            type: M.type, data: try JSONSchema(of: M.self), answer: try query.map { try answer(of: $0) })
    }

    private static func answer<Q: QueryMessage>(of query: Q.Type) throws -> JSONSchema {
        try JSONSchema(of: Q.Answer.self)
    }
}

extension JSONSchema {
    /// Finds what JSON a type is read from: its own decoding runs on a decoder that has nothing to give, and notes what it
    /// is asked for. So a message stays one struct, and its schema cannot differ from what the struct reads.
    ///
    /// - Throws: ``SchemaError`` that names a type which does not decode a sample; it should conform to
    ///   ``SchemaDescribing``.
    package init(of type: any Decodable.Type) throws {
        self = try Self.schema(of: type)
    }

    private static func schema<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return try SchemaProbe().sample(of: type).schema
    }
}

/// Makes samples of types, and finds their schemas on the way.
struct SchemaProbe {
    /// The types that this one stands within.
    private var enclosing: [ObjectIdentifier] = []

    struct Sample<Value> {
        let schema: JSONSchema
        let value: Value
    }

    /// - Throws: ``SchemaError``.
    func sample<T: Decodable>(of type: T.Type) throws -> Sample<T> {
        if let sampled = type as? any Sampled.Type, let sample = try sampled.anySample(self) as? Sample<T> {
            return sample
        }
        if let known = Self.cases(of: type) { return known }
        let id = ObjectIdentifier(type)
        guard !enclosing.contains(id) else { throw Self.failure(type, "it contains itself") }
        var inner = self
        inner.enclosing.append(id)
        let decoder = ProbingDecoder(probe: inner)
        do {
            let value = try T(from: decoder)
            return Sample(schema: (type as? any SchemaDescribing.Type)?.schema ?? decoder.schema, value: value)
        } catch let error as SchemaError {
            throw error
        } catch {
            throw Self.failure(type, "it cannot be made of a sample")
        }
    }

    /// What a list holds, which needs no sample of it: it may be what the list is within.
    func elements<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return enclosing.contains(ObjectIdentifier(type)) ? .any : try sample(of: type).schema
    }

    private static func cases<T>(of type: T.Type) -> Sample<T>? {
        guard let type = type as? any CaseIterable.Type else { return nil }
        let cases = allCases(of: type)
        let values = cases.compactMap { ($0 as? any RawRepresentable)?.jsonRawValue }
        guard let value = cases.first as? T, values.count == cases.count else { return nil }
        return Sample(schema: .enumeration(values), value: value)
    }

    private static func allCases<C: CaseIterable>(of type: C.Type) -> [Any] { Array(C.allCases) }

    private static func failure(_ type: Any.Type, _ reason: String) -> SchemaError {
        SchemaError(
            description: "it cannot be told what JSON \(type) is: \(reason); let it conform to SchemaDescribing")
    }
}

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

/// The members that a type asks for by name.
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
    private let decoder: ProbingDecoder
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

/// What a type asks for as a whole.
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

/// Why it cannot be told what JSON a type is.
package struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line: which type, and what to do.
    package let description: String
}
