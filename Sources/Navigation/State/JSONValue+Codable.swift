public import Foundation

extension JSONValue: Codable {
    /// Decodes any JSON value.
    ///
    /// - Throws: `DecodingError` when the decoder's value is none that JSON knows.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Strings first: they are what messages carry most, and each failed attempt costs a thrown error.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    /// Encodes the value as the JSON that it is.
    ///
    /// - Throws: `EncodingError` for a number that JSON cannot write.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

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
