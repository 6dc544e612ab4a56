internal import EventBus
package import Foundation
package import Sodium
internal import Support

/// The part of a page that a browser may use.
package enum PageAccess: Hashable, Sendable {
    /// Everything, in every session.
    case `operator`
    /// The devices of one session.
    case session(String)

    /// The only session whose devices the browser may use. Nil for all sessions.
    package var session: String? { if case .session(let name) = self { name } else { nil } }
}

/// A text that proves that the owner of a key has allowed something until a time. It has a random id, so no two tokens
/// are equal.
///
/// The form of an operator's token is `ID.EXPIRY.CODE`: 16 random bytes and an HMAC in Base64 for URLs, and the seconds
/// since 1970. The form of a session's token is `ID.EXPIRY.SESSION.CODE`, with the session's name in Base64 for URLs.
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
    private static let maximumLength = 512
    private static let idSize = 16

    package let id: String
    /// The time after which the token is not valid, in whole seconds since 1970.
    package let expiry: Int
    package let access: PageAccess
    package let text: String

    /// Makes a token.
    /// - Parameters:
    ///   - access: The part of the page that the token allows. ``Session/refusal(of:)`` accepts the name of its session.
    ///   - stack: The name of the stack. A token is not valid for another stack with the same key.
    ///   - lifetime: The time for which the token is valid, in seconds.
    package init(
        _ purpose: Purpose, access: PageAccess, stack: String, key: HMAC.Key, lifetime: TimeInterval, now: Date = Date()
    ) {
        id = Base64URL.encode(RandomBytes.make(Self.idSize))
        expiry = Int((now.timeIntervalSince1970 + lifetime).rounded(.up))
        self.access = access
        let session = access.session.map { Base64URL.encode(Data($0.utf8)) }
        let code = Self.code(purpose, stack: stack, session: session, id: id, expiry: expiry, key: key)
        text = "\(id).\(expiry).\(session.map { "\($0)." } ?? "")\(Base64URL.encode(code))"
    }

    /// Reads a token.
    /// - Returns: Nil if the text is not a token for this purpose and stack, or if it has expired.
    package init?(
        _ text: String, for purpose: Purpose, stack: String, key: HMAC.Key, lifetime: TimeInterval, now: Date = Date()
    ) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(scalar: ".", omittingEmptySubsequences: false)
        // The text of a number has other forms, such as +5; only the usual one is a token.
        guard (3...4).contains(parts.count), let expiry = Int(parts[1]), String(expiry) == parts[1],
            let code = Base64URL.decode(parts[parts.count - 1])
        else { return nil }
        let id = String(parts[0])
        let session = parts.count == 4 ? String(parts[2]) : nil
        let expected = Self.code(purpose, stack: stack, session: session, id: id, expiry: expiry, key: key)
        guard ConstantTime.areEqual(code, expected), let access = Self.access(session) else { return nil }
        let left = Double(expiry) - now.timeIntervalSince1970
        // A token with a later expiry was made when the clock was wrong. It could be used again after the list of used
        // tokens has forgotten it.
        guard left > 0, left <= lifetime + 1 else { return nil }
        (self.id, self.expiry, self.access, self.text) = (id, expiry, access, text)
    }

    /// - Parameter session: The name of the session in Base64. Nil in an operator's token.
    /// - Returns: Nil if there is no such session.
    private static func access(_ session: String?) -> PageAccess? {
        guard let session else { return .operator }
        guard let name = Base64URL.decode(session).flatMap({ String(validating: $0, as: UTF8.self) }),
            Session.refusal(of: name) == nil
        else { return nil }
        return .session(name)
    }

    /// The code covers the session. The first line differs, so the code of a token with a session is never that of one
    /// without.
    private static func code(
        _ purpose: Purpose, stack: String, session: String?, id: String, expiry: Int, key: HMAC.Key
    ) -> Data {
        let first = session.map { "\(purpose.rawValue) of a session\n\($0)" } ?? purpose.rawValue
        return HMAC.code(of: Data("\(first)\n\(stack)\n\(id)\n\(expiry)".utf8), with: key)
    }
}
