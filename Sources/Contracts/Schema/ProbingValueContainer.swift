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
