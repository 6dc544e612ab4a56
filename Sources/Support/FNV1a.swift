/// The 64-bit FNV-1a hash: stable across processes and platforms, which Swift's own hashing is not on purpose.
package struct FNV1a {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ text: String) {
        for byte in text.utf8 {
            state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }

    /// The hash so far, 16 digits.
    package var hexadecimal: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
