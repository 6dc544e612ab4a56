internal import Sodium
internal import Support

/// A public key of CurveZMQ (ZeroMQ RFC 26): 32 bytes. As text: 40 characters of Z85.
package struct CurveKey: Hashable, Sendable {
    package static let size = 32

    package let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// - Parameter bytes: A public key that libsodium has made, and so 32 bytes.
    fileprivate init(madeBySodium bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Nil unless the text is the Z85 of 32 bytes.
    package init?(_ text: String) {
        guard let bytes = Z85.decode(text) else { return nil }
        self.init(bytes)
    }
}

extension CurveKey: CustomStringConvertible {
    package var description: String { Z85.encode(bytes) }
}

extension CurveKey: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let key = CurveKey(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a key has 40 characters of Z85"))
        }
        self = key
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A public key with its secret key. Its description and its mirror leave the secret key out.
package struct CurveKeyPair: Hashable, Sendable {
    package let publicKey: CurveKey
    package let secretKey: [UInt8]

    /// A new random key pair.
    package init() {
        let pair = Curve25519.keyPair()
        publicKey = CurveKey(madeBySodium: pair.publicKey)
        secretKey = pair.secretKey
    }

    /// Restores a stored key pair. Nil if the text is not the Z85 of a secret key.
    package init?(secretKey text: String) {
        guard let secretKey = Z85.decode(text),
            let publicKey = Curve25519.publicKey(of: secretKey)
        else { return nil }
        self.publicKey = CurveKey(madeBySodium: publicKey)
        self.secretKey = secretKey
    }

    var secretText: String { Z85.encode(secretKey) }
}

extension CurveKeyPair: CustomStringConvertible, CustomReflectable {
    package var description: String { "the key pair of \(publicKey)" }
    package var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// Z85 (ZeroMQ RFC 32): four bytes as five printable characters.
enum Z85 {
    private static let alphabet = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)
    /// The value of each character; nil for a byte that is not one.
    private static let values: [UInt32?] = {
        var values = [UInt32?](repeating: nil, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt32(value) }
        return values
    }()

    /// - Parameter bytes: Their number is a multiple of four.
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count - 3, by: 4) {
            var number = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            var group: [UInt8] = []
            for _ in 0..<5 {
                group.append(alphabet[Int(number % 85)])
                number /= 85
            }
            text += group.reversed()
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil if the text has another character, its length is not a multiple of five, or a group exceeds four bytes.
    static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 5) else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: characters.count, by: 5) {
            var number: UInt64 = 0
            for character in characters[start..<start + 5] {
                guard let value = values[Int(character)] else { return nil }
                number = number * 85 + UInt64(value)
            }
            guard let group = UInt32(exactly: number) else { return nil }
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        }
        return bytes
    }
}
