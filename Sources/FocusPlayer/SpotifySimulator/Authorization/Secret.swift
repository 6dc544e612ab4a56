import Foundation
import Sodium

/// An authorization code or a token, as it is handed to a client.
///
/// It prints as its kind only, and the state keeps its digest instead: what the simulator shows or stores is of no use
/// to whoever finds it.
struct Secret: Sendable, Equatable {
    /// The text that the client gets.
    let value: String

    init(_ value: String) {
        self.value = value
    }

    /// 256 bits from the system's secure generator.
    static func random() -> Secret {
        Secret(PKCE.base64URL(RandomBytes.make(32)))
    }

    var digest: Digest { Digest(rawValue: PKCE.base64URL(SHA256.hash(Data(value.utf8)))) }
}

extension Secret {
    /// What the state knows a secret by.
    struct Digest: RawRepresentable, Hashable, Codable, CodingKeyRepresentable, Sendable {
        let rawValue: String
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "Secret(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
