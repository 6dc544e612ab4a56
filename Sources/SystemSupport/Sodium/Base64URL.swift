package import Foundation

/// Base64 for URLs, without padding (RFC 4648 §5).
package enum Base64URL {
    package static func encode(_ bytes: Data) -> String {
        let base64 = bytes.base64EncodedData().filter { $0 != UInt8(ascii: "=") }
        return String(decoding: base64.map { symbols[$0] ?? $0 }, as: UTF8.self)
    }

    /// The bytes. Nil unless the text is Base64 for URLs without padding.
    package static func decode(_ text: some StringProtocol) -> Data? {
        guard !text.utf8.contains(where: "+/=".utf8.contains) else { return nil }
        let base64 = text.utf8.map { byte in symbols.first { $0.value == byte }?.key ?? byte }
        let padding = Array(repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: Data(base64 + padding))
    }

    /// The symbols of Base64 and those that replace them in URLs.
    private static let symbols = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
}
