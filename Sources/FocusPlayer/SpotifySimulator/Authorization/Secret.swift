import Foundation
import Sodium
import Support

/// An authorization code or a token, as a client receives it.
///
/// The description does not contain the value, and the simulator's state contains only the digest.
struct Secret: Sendable, Equatable {
    /// The string that the client receives.
    let value: String

    init(_ value: String) {
        self.value = value
    }

    /// Creates a secret of 256 bits from the system's secure generator.
    static func random() -> Secret {
        Secret(Base64URL.encode(RandomBytes.make(32)))
    }

    var digest: Digest { Digest(rawValue: Base64URL.encode(SHA256.hash(Data(value.utf8)))) }

    /// The digest by which the state identifies a secret.
    struct Digest: RawRepresentable, Hashable, Codable, CodingKeyRepresentable, Sendable {
        let rawValue: String
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "Secret(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Proof Key for Code Exchange, RFC 7636, method S256.
enum PKCE {
    /// True if the string can be the base64url form of a SHA-256 digest.
    static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 43 && text.unicodeScalars.allSatisfy(isBase64URL)
    }

    /// True if the verifier is well formed (RFC 7636 §4.1: 43 to 128 unreserved characters) and hashes to the
    /// challenge.
    static func verifier(_ verifier: String, answers challenge: String) -> Bool {
        guard
            (43...128).contains(verifier.utf8.count),
            verifier.unicodeScalars.allSatisfy({ isBase64URL($0) || $0 == "." || $0 == "~" })
        else { return false }
        let answer = Base64URL.encode(SHA256.hash(Data(verifier.utf8)))
        return ConstantTime.areEqual(Data(answer.utf8), Data(challenge.utf8))
    }

    private static func isBase64URL(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCIILetter || scalar.isASCIIDigit || scalar == "-" || scalar == "_"
    }
}
