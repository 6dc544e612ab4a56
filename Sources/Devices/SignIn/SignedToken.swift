package import Foundation
package import Sodium
internal import Support

/// A text that proves that the owner of a key has allowed something until a time. It has a random id, so no two tokens
/// are equal.
///
/// The form is `ID.EXPIRY.CODE`: 16 random bytes and an HMAC in Base64 for URLs, and the seconds since 1970.
package struct SignedToken: Hashable, Sendable {
    /// The use of a token. A token of one use is not valid for another one.
    package enum Purpose: String, Sendable {
        /// A link that signs a browser in.
        case link
        /// The cookie of a browser that has signed in.
        case cookie
    }

    /// The time for which a link is valid.
    package static let linkLifetime: TimeInterval = 60
    /// The time for which a browser stays signed in.
    package static let cookieLifetime: TimeInterval = 30 * 24 * 60 * 60

    /// A longer text is not a token.
    private static let maximumLength = 128
    private static let idSize = 16

    package let id: String
    /// The time after which the token is not valid, in whole seconds since 1970.
    package let expiry: Int
    package let text: String

    /// Makes a token.
    /// - Parameters:
    ///   - stack: The name of the stack. A token is not valid for another stack with the same key.
    ///   - lifetime: The time for which the token is valid, in seconds.
    package init(
        _ purpose: Purpose, stack: String, key: HMAC.Key, lifetime: TimeInterval, now: Date = Date()
    ) {
        id = Base64URL.encode(RandomBytes.make(Self.idSize))
        expiry = Int((now.timeIntervalSince1970 + lifetime).rounded(.up))
        let code = Self.code(purpose, stack: stack, id: id, expiry: expiry, key: key)
        text = "\(id).\(expiry).\(Base64URL.encode(code))"
    }

    /// Reads a token.
    /// - Returns: Nil if the text is not a token for this purpose and stack, or if it has expired.
    package init?(
        _ text: String, for purpose: Purpose, stack: String, key: HMAC.Key, lifetime: TimeInterval, now: Date = Date()
    ) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(scalar: ".", omittingEmptySubsequences: false)
        // The text of a number has other forms, such as +5; only the usual one is a token.
        guard parts.count == 3, let expiry = Int(parts[1]), String(expiry) == parts[1],
            let code = Base64URL.decode(parts[2])
        else { return nil }
        let id = String(parts[0])
        guard ConstantTime.areEqual(code, Self.code(purpose, stack: stack, id: id, expiry: expiry, key: key)) else {
            return nil
        }
        let left = Double(expiry) - now.timeIntervalSince1970
        // A token with a later expiry was made when the clock was wrong. It could be used again after the list of used
        // tokens has forgotten it.
        guard left > 0, left <= lifetime + 1 else { return nil }
        (self.id, self.expiry, self.text) = (id, expiry, text)
    }

    private static func code(_ purpose: Purpose, stack: String, id: String, expiry: Int, key: HMAC.Key) -> Data {
        HMAC.code(of: Data("\(purpose.rawValue)\n\(stack)\n\(id)\n\(expiry)".utf8), with: key)
    }
}
