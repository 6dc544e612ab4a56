package import Foundation

/// Encodes values as JSON, as Foundation's encoder does with sorted keys and without escaped slashes, and with dates in
/// the form of ``Timestamp``: equal values have equal bytes.
package enum JSONWriter {
    /// The maximum depth of nested arrays and objects, which Foundation's encoder has too.
    private static let depthLimit = 511

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

    private static func invalid(_ value: some Encodable, _ description: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: description))
    }
}
