internal import Foundation
internal import Sodium

/// The secret that ties a code to the process that requested it (RFC 7636, PKCE).
package struct CodeVerifier: Hashable, Sendable {
    /// 43 to 128 characters of `[A-Za-z0-9-._~]`. It is secret until the code is exchanged.
    package let value: String

    /// Creates a verifier of 512 random bits, 86 characters.
    package init() {
        value = Base64URL.encode(RandomBytes.make(64))
    }

    /// Restores a stored verifier. Nil if RFC 7636 §4.1 does not allow the value.
    package init?(_ value: String) {
        guard (43...128).contains(value.utf8.count), value.utf8.allSatisfy(Self.isUnreserved) else { return nil }
        self.value = value
    }

    /// The value that the authorization request contains: base64url of the SHA-256, without padding (method `S256`).
    package var challenge: String {
        Base64URL.encode(SHA256.hash(Data(value.utf8)))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}

extension CodeVerifier: CustomStringConvertible, CustomReflectable {
    package var description: String { "CodeVerifier(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CodeVerifier: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let verifier = CodeVerifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a code verifier has 43 to 128 unreserved characters")
        }
        self = verifier
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
