public import Foundation

extension JSONValue {
    /// Parses JSON text.
    ///
    /// - Parameter json: One JSON value in UTF-8.
    /// - Throws: `DecodingError` that says where the text stops being JSON.
    public init(parsing json: Data) throws {
        var parser = JSONParser(Array(json))
        do {
            self = try parser.parse()
        } catch {
            let description = "malformed JSON: \(error.message) at byte \(error.offset + 1)"
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: description))
        }
    }

    /// The JSON value that `value` encodes to.
    ///
    /// - Parameter value: Anything that JSON can hold.
    /// - Throws: `EncodingError` from `value`.
    public init(encoding value: some Encodable) throws {
        try self.init(parsing: JSONEncoder().encode(value))
    }

    /// Decodes a typed value out of this one.
    ///
    /// - Parameter type: What is expected here.
    /// - Returns: The decoded value.
    /// - Throws: `DecodingError` that names the member which is missing or of another type.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(description.utf8))
    }
}
