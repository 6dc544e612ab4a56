extension JSONSchema {
    /// Finds what JSON a type is read from: its own decoding runs on a decoder that has nothing to give, and notes what it
    /// is asked for. So a message stays one struct, and its schema cannot differ from what the struct reads.
    ///
    /// - Throws: ``SchemaError`` that names a type which does not decode a sample; it should conform to
    ///   ``SchemaDescribing``.
    public init(of type: any Decodable.Type) throws {
        self = try Self.schema(of: type)
    }

    private static func schema<T: Decodable>(of type: T.Type) throws -> JSONSchema {
        if let describing = type as? any SchemaDescribing.Type { return describing.schema }
        return try SchemaProbe().sample(of: type).schema
    }
}
