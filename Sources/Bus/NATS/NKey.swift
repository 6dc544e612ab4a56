internal import Sodium
internal import Support

/// A user's nkey: an Ed25519 key in base 32, with a prefix and a checksum.
package enum NKey {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let seedPrefix: UInt8 = 18 << 3
    private static let userPrefix: UInt8 = 20 << 3

    /// The public key (`U…`) of the first user's seed (`SU…`) in a text. Nil if there is none, or it is damaged.
    package static func publicKey(seed text: String) -> String? {
        let seed = text.words.first { $0.begins(with: "SU") && $0.utf8.count == 58 }
        // Two bytes hold both prefixes, 32 the seed, two the checksum.
        guard let seed, let bytes = decode(seed.utf8), bytes.count == 36 else { return nil }
        let checksum = UInt16(bytes[34]) | UInt16(bytes[35]) << 8
        guard crc16(bytes[..<34]) == checksum, let key = Ed25519.publicKey(seed: Array(bytes[2..<34])) else {
            return nil
        }
        return encode([userPrefix] + key)
    }

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
