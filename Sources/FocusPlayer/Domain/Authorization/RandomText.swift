internal import Foundation
internal import Sodium

/// Text that an attacker cannot guess.
enum RandomText {
    /// - Parameter bytes: how many random bytes go into it.
    static func make(bytes: Int) -> String {
        Base64URL.encode(RandomBytes.make(bytes))
    }
}
