public import Foundation

extension JSONValue {
    /// Parses JSON.
    ///
    /// - Parameter json: One JSON value in UTF-8.
    /// - Throws: `DecodingError` with the number of the byte at which the input is invalid, counted from 1.
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
    /// - Parameter value: A value that can be encoded as JSON.
    /// - Throws: `EncodingError` if `value` cannot be encoded as JSON; `DecodingError` if the JSON is nested too
    ///   deeply.
    public init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .timestamp
        try self.init(parsing: encoder.encode(value))
    }

    /// Decodes this value as `type`.
    ///
    /// - Throws: `DecodingError` if this value does not match `type`.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .timestamp
        return try decoder.decode(type, from: Data(description.utf8))
    }
}

// Dates in the data of messages. Foundation's own form is a number of seconds since 2001.

extension JSONEncoder.DateEncodingStrategy {
    /// Writes dates as ``Timestamp`` does. A date that it cannot hold is an error.
    package static let timestamp = JSONEncoder.DateEncodingStrategy.custom { date, encoder in
        guard Timestamp.canHold(date) else {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath, debugDescription: "a date is outside the years 0000 to 9999")
            throw EncodingError.invalidValue(date, context)
        }
        var container = encoder.singleValueContainer()
        try container.encode(Timestamp.text(of: date))
    }
}

extension JSONDecoder.DateDecodingStrategy {
    /// Reads dates in RFC 3339, and numbers of seconds since 2001, which earlier versions wrote. A date that
    /// ``Timestamp`` cannot hold is an error.
    package static let timestamp = JSONDecoder.DateDecodingStrategy.custom { decoder in
        let container = try decoder.singleValueContainer()
        let date =
            if let seconds = try? container.decode(Double.self) {
                Date(timeIntervalSinceReferenceDate: seconds)
            } else {
                Timestamp.date(from: try container.decode(String.self))
            }
        guard let date, Timestamp.canHold(date) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a time such as 2026-03-01T13:00:00.000Z")
        }
        return date
    }
}
