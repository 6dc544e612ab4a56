/// A user's nkey, with which it signs in to servers of NATS: an Ed25519 key in base 32, with a prefix and a checksum. Its
/// description and its mirror leave the seed out.
package struct NKey: Hashable, Sendable {
    /// The text of the public key: `U` and 55 other characters.
    package let publicKey: String
    /// The text of the seed, which is a secret: `SU` and 56 other characters.
    package let seed: String

    /// A new random nkey.
    package init() {
        let bytes = Array(RandomBytes.make(Self.keySize))
        // Nil only for another number of bytes.
        publicKey = Ed25519.publicKey(seed: bytes).map { Self.encode([Self.userPrefix] + $0) } ?? ""
        seed = Self.seed(bytes)
    }

    /// The nkey of the first user's seed in a text. Nil if there is none, or it is damaged.
    ///
    /// The text may be that of a file with other lines, or with members of JSON.
    package init?(seedIn text: String) {
        let words = text.utf8.split { !Self.alphabet.contains($0) }
        guard let word = words.first(where: { $0.starts(with: "SU".utf8) && $0.count == 58 }),
            // Two bytes hold both prefixes, 32 the seed, two the checksum.
            let bytes = Self.decode(word), bytes.count == Self.keySize + 4,
            Self.crc16(bytes[..<34]) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
            let key = Ed25519.publicKey(seed: Array(bytes[2..<Self.keySize + 2]))
        else { return nil }
        publicKey = Self.encode([Self.userPrefix] + key)
        seed = String(decoding: word, as: UTF8.self)
    }

    /// True if the text has the form of a user's public key. Its checksum is not compared.
    package static func isPublicKey(_ text: String) -> Bool {
        text.utf8.count == 56 && text.utf8.first == UInt8(ascii: "U")
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x32...0x37).contains($0) }
    }

    private static let keySize = 32
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let seedPrefix: UInt8 = 18 << 3
    private static let userPrefix: UInt8 = 20 << 3

    /// The text of a user's seed.
    package static func seed(_ bytes: [UInt8]) -> String {
        encode([seedPrefix | userPrefix >> 5, (userPrefix & 31) << 3] + bytes)
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        let checksum = crc16(bytes[...])
        var text: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for byte in bytes + [UInt8(checksum & 0xff), UInt8(checksum >> 8)] {
            buffer = (buffer << 8 | Int(byte)) & 0xffff
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[buffer >> bits & 31])
            }
        }
        if bits > 0 { text.append(alphabet[buffer << (5 - bits) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for character in text {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            buffer = (buffer << 5 | value) & 0xffff
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(buffer >> bits & 0xff))
            }
        }
        return bytes
    }

    /// CRC-16/XMODEM.
    private static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
    }
}

extension NKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "the nkey \(publicKey)" }
    package var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
