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
