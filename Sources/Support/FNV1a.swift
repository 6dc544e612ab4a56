/// The 64-bit FNV-1a hash. Unlike Swift's own hash, it is the same in every process and on every platform.
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

    /// The hash of the bytes so far: 16 hexadecimal digits in lower case.
    package var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
