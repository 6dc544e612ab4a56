/// Hexadecimal digits, in lower case.
extension UInt8 {
    /// The digit of the lower four bits.
    package var hexadecimalDigit: UInt8 {
        let number = self & 0xf
        return number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + number - 10
    }

    /// The number of a digit. Nil for any other byte, also for a digit in upper case.
    package init?(hexadecimalDigit digit: UInt8) {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self = digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self = digit - UInt8(ascii: "a") + 10
        default: return nil
        }
    }
}
