public import Foundation

extension JSONValue {
    /// Parses JSON.
    ///
    /// - Parameter json: One JSON value in UTF-8.
    /// - Throws: `DecodingError` with the number of the byte at which the input is invalid, counted from 1.
    public init(parsing json: Data) throws {
        self = try JSONDocument(parsing: Array(json)).value
    }

    /// The JSON value that `value` encodes to.
    ///
    /// - Parameter value: A value that can be encoded as JSON.
    /// - Throws: `EncodingError` if `value` cannot be encoded as JSON; `DecodingError` if the JSON is nested too
    ///   deeply.
    public init(encoding value: some Encodable) throws {
        self = try JSONDocument(parsing: JSONWriter.bytes(of: value)).value
    }

    /// Decodes this value as `type`.
    ///
    /// - Throws: `DecodingError` if this value does not match `type`.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONReader.decode(type, from: description.utf8)
    }
}
