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
