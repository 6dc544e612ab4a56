package import Foundation

/// Base64 for URLs, without padding (RFC 4648 §5).
package enum Base64URL {
    package static func encode(_ bytes: Data) -> String {
        bytes.base64EncodedString()
            .replacing("+", with: "-")
            .replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// The bytes. Nil unless the text is Base64 for URLs without padding.
    package static func decode(_ text: some StringProtocol) -> Data? {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: String(text).replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
