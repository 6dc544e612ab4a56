internal import EventBus
package import Support

extension DeclaredMessage {
    /// The message's type with the schemas of its data and its answer, and with its line.
    /// - Throws: ``SchemaError`` if a schema cannot be inferred.
    package func contract() throws -> MessageContract {
        guard let message else { return MessageContract(type: type, data: data) }
        return try Self.contract(of: message)
    }

    private static func contract<M: Message>(of message: M.Type) throws -> MessageContract {
        let query = message as? any QueryMessage.Type
        return MessageContract(
            type: M.type, data: try JSONSchema(of: M.self), answer: try query.map { try answer(of: $0) }, line: M.line)
    }

    private static func answer<Q: QueryMessage>(of query: Q.Type) throws -> JSONSchema {
        try JSONSchema(of: Q.Answer.self)
    }
}

extension JSONSchema {
    /// Infers the schema of a type. The type decodes itself from a decoder that returns sample values and records the
    /// requests. A type that conforms to ``SchemaDescribing`` provides the schema itself.
    ///
    /// - Throws: ``SchemaError`` if a type contains itself, other than in a list, a dictionary or an optional, or
    ///   cannot be decoded from sample values. The error names the type, which should conform to ``SchemaDescribing``.
    package init(of type: any Decodable.Type) throws {
        self = try Self.schema(of: type)
    }

    private static func schema<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return try SchemaProbe().sample(of: type).schema
    }
}

/// Creates a sample value of a type, and infers the type's schema from the decoding of the sample.
struct SchemaProbe {
    /// The path of the value that is being sampled, by the names of its fields. Empty for the whole sample.
    private var path: [String] = []
    /// The path of the value that differs from that of a usual sample. Nil if there is none.
    private let changed: [String]?
    /// Receives the path and the type of each value that is sampled.
    private let record: ([String], Any.Type) -> Void
    /// The types that are being sampled, from the outermost to the innermost. A type that is requested while it is in
    /// this list contains itself.
    private var enclosing: [ObjectIdentifier] = []

    struct Sample<Value> {
        let schema: JSONSchema
        let value: Value
    }

    init(changing changed: [String]? = nil, record: @escaping ([String], Any.Type) -> Void = { _, _ in }) {
        self.changed = changed
        self.record = record
    }

    /// The probe for a field of the value that is being sampled.
    func field(_ name: String) -> SchemaProbe {
        var probe = self
        probe.path.append(name)
        return probe
    }

    /// Returns the usual sample, or the other one for the value that differs from a usual sample.
    func choose<Value>(_ usual: Value, or other: @autoclosure () throws -> Value) rethrows -> Value {
        path == changed ? try other() : usual
    }

    /// Returns a sample value of a type with the type's schema.
    ///
    /// - Throws: ``SchemaError`` if the type contains itself or cannot be decoded from sample values.
    func sample<T: Decodable>(of type: T.Type) throws -> Sample<T> {
        record(path, type)
        if let sampled = type as? any Sampled.Type, let sample = try sampled.anySample(self) as? Sample<T> {
            return sample
        }
        if let known = cases(of: type) { return known }
        guard !isEnclosing(type) else { throw Self.failure(type, "the type contains itself") }
        var inner = self
        inner.enclosing.append(ObjectIdentifier(type))
        let decoder = ProbingDecoder(probe: inner)
        do {
            let value = try T(from: decoder)
            return Sample(schema: (type as? any SchemaDescribing.Type)?.schema ?? decoder.schema, value: value)
        } catch let error as SchemaError {
            throw error
        } catch {
            throw Self.failure(type, "the type cannot be decoded from sample values")
        }
    }

    /// The schema of the elements of a list, the values of a dictionary or the value of an optional. If their type is
    /// being sampled already, the result is `.any`. Therefore a type may contain a list of itself.
    func elements<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return isEnclosing(type) ? .any : try sample(of: type).schema
    }

    /// A value of this type. Nil if the type is being sampled already.
    func element<T: Decodable>(of type: T.Type) throws -> T? {
        isEnclosing(type) ? nil : try sample(of: type).value
    }

    private func isEnclosing(_ type: Any.Type) -> Bool { enclosing.contains(ObjectIdentifier(type)) }

    private func cases<T>(of type: T.Type) -> Sample<T>? {
        guard let type = type as? any CaseIterable.Type else { return nil }
        let cases = Self.allCases(of: type)
        let values = cases.compactMap { ($0 as? any RawRepresentable)?.jsonRawValue }
        guard let value = choose(cases.first, or: cases.last) as? T, values.count == cases.count else { return nil }
        return Sample(schema: .enumeration(values), value: value)
    }

    private static func allCases<C: CaseIterable>(of type: C.Type) -> [Any] { Array(C.allCases) }

    private static func failure(_ type: Any.Type, _ reason: String) -> SchemaError {
        SchemaError(
            description:
                "the JSON schema of \(type) cannot be inferred: \(reason); let it conform to SchemaDescribing")
    }
}

/// A decoder that returns sample values and records the requests.
final class ProbingDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    let probe: SchemaProbe
    /// The schema of the first value that was requested without a key, or of a map if the type reads all keys. Nil if
    /// neither has happened.
    private var whole: JSONSchema?
    private var members: [String: Member]?
    /// The keys that the type has passed to `contains`. A member with such a key is optional if it is decoded
    /// afterwards.
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

    /// Records the schema of a value that is requested without a key. Only the first schema is kept: if a type accepts
    /// several forms, the form that it requests first is taken as the usual one.
    func record(_ schema: JSONSchema) {
        if whole == nil { whole = schema }
    }

    func record(_ schema: @autoclosure @escaping () -> JSONSchema, for key: some CodingKey) {
        guard members?[key.stringValue] == nil else { return }
        members?[key.stringValue] = Member(schema: schema, isRequired: !optional.contains(key.stringValue))
    }

    func recordOptional(_ key: some CodingKey) {
        optional.insert(key.stringValue)
    }

    /// Records that the type reads all keys, so the names of its members are not fixed.
    func recordAnyNames() {
        members = nil
        record(.map(.any))
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
        decoder.recordAnyNames()
        return []
    }

    func contains(_ key: Key) -> Bool {
        decoder.recordOptional(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let sample = try decoder.probe.field(key.stringValue).sample(of: type)
        decoder.record(sample.schema, for: key)
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
        let inner = ProbingDecoder(probe: decoder.probe.field(key.stringValue))
        decoder.record(inner.schema, for: key)
        return inner
    }
}

/// Presents a list with one element.
struct ProbingListContainer: UnkeyedDecodingContainer {
    private let decoder: ProbingDecoder
    let codingPath: [any CodingKey] = []
    var count: Int? { nil }
    private(set) var currentIndex = 0

    init(decoder: ProbingDecoder) {
        self.decoder = decoder
    }

    var isAtEnd: Bool { currentIndex > 0 }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let sample = try decoder.probe.sample(of: type)
        // A type may read several elements of different types. Only the schema of the first element is recorded.
        decoder.record(.array(sample.schema))
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
        decoder.record(.array(.any))
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
        decoder.record(sample.schema)
        return sample.value
    }
}

/// The error of a type whose schema cannot be inferred.
package struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type, the reason and the remedy in one line.
    package let description: String
}
