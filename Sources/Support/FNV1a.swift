/// The 64-bit FNV-1a hash: stable across processes and platforms, which Swift's own hashing is not on purpose, and short
/// enough for a client in another language.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }

    package mutating func combine(_ text: String) {
        combine(text.utf8)
    }

    /// The hash so far, 16 digits.
    package var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
