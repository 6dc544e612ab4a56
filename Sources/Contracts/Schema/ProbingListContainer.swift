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
