internal import Foundation

/// Text that nobody can guess.
enum RandomText {
    /// - Parameter bytes: how many bytes of the system's cryptographic random source go into it.
    static func make(bytes: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return Base64URL.encode(Data((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }
}
