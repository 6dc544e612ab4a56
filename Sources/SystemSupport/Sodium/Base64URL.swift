package import Foundation

/// Base64 for URLs, without padding (RFC 4648 §5).
package enum Base64URL {
    package static func encode(_ bytes: Data) -> String {
        bytes.base64EncodedString()
            .replacing("+", with: "-")
            .replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
