/// The 64-bit FNV-1a hash. Unlike Swift's own hash, it is the same in every process and on every platform.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        let isCombined: Void? = bytes.withContiguousStorageIfAvailable { combine(UnsafeRawBufferPointer($0)) }
        guard isCombined == nil else { return }
        for byte in bytes { combine(byte) }
    }

    /// The same for bytes in memory, which is faster than reading them through an iterator.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { combine(byte) }
    }

    package mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    private mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    /// The hash of the bytes so far: 16 hexadecimal digits in lower case.
    package var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
