internal import EventBus
internal import Support

/// One part of a subject between two dots, for an arbitrary text.
///
/// Letters, digits, `_` and `-` are written as they are, every other byte of the UTF-8 as `~` and two hexadecimal
/// digits. The text `-` is written as `~2d`, the empty text as `~`. So no text is written as `-` or `+`, which have
/// meanings of their own, and tokens such as `~mark` are not the token of any text.
package enum SubjectToken {
    private static let escape = UInt8(ascii: "~")

    package static func encode(_ text: String) -> String {
        if text.isEmpty { return "~" }
        if text == "-" { return "~2d" }
        if text.utf8.allSatisfy(isPlain) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(escape)
                bytes.append(contentsOf: hexadecimal(byte).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil if ``encode(_:)`` returns the token for no text.
    package static func decode(_ token: some StringProtocol) -> String? {
        if token == "~" { return "" }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.utf8.count)
        var rest = Array(token.utf8)[...]
        while let byte = rest.popFirst() {
            if byte != escape {
                bytes.append(byte)
            } else {
                guard let high = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:)),
                    let low = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:))
                else { return nil }
                bytes.append(high << 4 | low)
            }
        }
        // There is one token for each text, so a token that is written in another way is not valid.
        guard let text = String(validating: bytes, as: UTF8.self), encode(text).utf8.elementsEqual(token.utf8) else {
            return nil
        }
        return text
    }

    /// Two hexadecimal digits in lower case.
    package static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    /// Reads two hexadecimal digits in lower case.
    static func byte(hexadecimal text: some StringProtocol) -> UInt8? {
        let digits = text.utf8.compactMap(UInt8.init(hexadecimalDigit:))
        guard digits.count == 2, text.utf8.count == 2 else { return nil }
        return digits[0] << 4 | digits[1]
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
