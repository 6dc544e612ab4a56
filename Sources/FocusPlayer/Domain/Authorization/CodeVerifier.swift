internal import Foundation
internal import Sodium

/// The secret that binds a code to the process that asked for it (RFC 7636, PKCE).
package struct CodeVerifier: Hashable, Sendable {
    /// 43 to 128 characters of `[A-Za-z0-9-._~]`. A secret until the code is traded.
    package let value: String

    /// Makes one of 512 random bits, 86 characters.
    package init() {
        value = Base64URL.encode(RandomBytes.make(64))
    }

    /// Takes over a kept one; nil unless RFC 7636 §4.1 allows it.
    package init?(_ value: String) {
        guard (43...128).contains(value.utf8.count), value.utf8.allSatisfy(Self.isUnreserved) else { return nil }
        self.value = value
    }

    /// What travels with the authorization request: base64url of the SHA-256, without padding (method `S256`).
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
