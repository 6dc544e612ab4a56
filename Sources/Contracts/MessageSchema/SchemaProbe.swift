package import Contracts
internal import EventBus
internal import Support

extension DeclaredMessage {
    /// The message's type with the schemas of its data and its answer.
    /// - Throws: ``SchemaError`` if a schema cannot be inferred.
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
    /// Infers the schema of a type. The type decodes itself from a decoder that returns sample values and records each
    /// request, so the schema always agrees with what the type reads.
    ///
    /// - Throws: ``SchemaError`` that names the type that could not be decoded from sample values. That type should
    ///   conform to ``SchemaDescribing``.
    package init(of type: any Decodable.Type) throws {
        self = try Self.schema(of: type)
    }

    private static func schema<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return try SchemaProbe().sample(of: type).schema
    }
}

/// Creates sample values of types, and infers their schemas while doing so.
struct SchemaProbe {
    /// The types that are being sampled, from the outermost to the innermost. A type that contains itself is found in
    /// this list.
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
            throw Self.failure(type, "it does not decode sample values")
        }
    }

    /// The schema of a list's elements. If the element type is being sampled already, the result is `.any`: a list may
    /// contain its own type, because an empty list is a valid sample.
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
            description:
                "the JSON schema of \(type) cannot be inferred: \(reason); conform to SchemaDescribing")
    }
}

/// A decoder that returns sample values and records what it is asked for.
final class ProbingDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    let probe: SchemaProbe
    /// The schema of the first value that was requested without a key. Nil if there was no such request.
    private var whole: JSONSchema?
    private var members: [String: Member]?
    /// The keys that the type asked for with `contains` before it decoded them. Such a member is optional.
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
        // A type that requests nothing has no members.
        return whole ?? .object([:])
    }

    /// Records the first value that is requested without a key. A type that accepts several forms requests its usual
    /// form first.
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

    /// Records that the type reads all keys, so the names of its members are not fixed.
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

/// Records the members that a type requests by name.
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

/// Presents a list with one element.
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
        // A type that reads several elements of different types expects a tuple. Only the schema of its first element
        // is recorded.
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

/// Records the single value that a type decodes itself from.
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

/// The error of a type whose schema cannot be inferred.
package struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line that names the type and says what to do.
    package let description: String
}
