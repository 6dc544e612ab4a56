package import Foundation

/// Encodes values as JSON, as Foundation's encoder does with sorted keys and without escaped slashes, and with dates in
/// the form of ``Timestamp``: equal values have equal bytes.
package enum JSONWriter {
    /// The maximum depth of nested arrays and objects, which Foundation's encoder has too.
    static let depthLimit = 511

    /// The JSON of a value.
    /// - Throws: `EncodingError` if the value cannot be encoded as JSON.
    package static func data(of value: some Encodable) throws -> Data {
        Data(try bytes(of: value))
    }

    /// The same as ``data(of:)``.
    package static func bytes(of value: some Encodable) throws -> [UInt8] {
        let tree = try JSONNode.tree(of: value)
        guard !tree.isEmpty else {
            throw invalid(value, "Top-level \(type(of: value)) did not encode any values.")
        }
        guard let bytes = tree.bytes(depthLimit: depthLimit) else {
            throw invalid(value, "nested more than \(depthLimit) levels deep")
        }
        return bytes
    }

    /// A finite number as Foundation's encoder writes it. Nil for an infinity or NaN.
    static func text<Number: BinaryFloatingPoint & CustomStringConvertible>(of number: Number) -> String? {
        guard number.isFinite else { return nil }
        return number.description.removing(suffix: ".0").map(String.init) ?? number.description
    }

    static func invalid(_ value: some Encodable, _ description: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: description))
    }
}

extension [UInt8] {
    /// Appends a JSON value.
    /// - Parameter levels: The maximum depth of nested arrays and objects.
    /// - Throws: `EncodingError` for an infinity or NaN, and if there are not enough levels.
    mutating func append(json: JSONValue, levels: Int) throws {
        switch json {
        case .null: append(contentsOf: "null".utf8)
        case .bool(let value): append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): append(contentsOf: value.description.utf8)
        case .number(let value):
            guard let text = JSONWriter.text(of: value) else { throw JSONWriter.invalid(json, "\(value) is not JSON") }
            append(contentsOf: text.utf8)
        case .string(let value): append(string: value)
        case .array where levels <= 0, .object where levels <= 0: throw JSONWriter.invalid(json, "nested too deeply")
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                try append(json: element, levels: levels - 1)
            }
            append(UInt8(ascii: "]"))
        case .object(let members):
            append(UInt8(ascii: "{"))
            for (index, member) in members.sortedByName.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(string: member.key)
                append(UInt8(ascii: ":"))
                try append(json: member.value, levels: levels - 1)
            }
            append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string with its quotes.
    mutating func append(string: String) {
        append(UInt8(ascii: "\""))
        append(escaping: string)
        append(UInt8(ascii: "\""))
    }
}

extension Dictionary where Key == String {
    /// The members in the order of the bytes of their names.
    var sortedByName: [(key: String, value: Value)] {
        count < 2 ? Array(self) : sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
