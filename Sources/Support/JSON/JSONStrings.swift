/// The content of strings in JSON, between their quotes.
enum JSONStrings {
    /// The bytes of a string with escapes.
    /// - Throws: ``JSONFailure`` at an escape that JSON does not have, and at half of a surrogate pair.
    static func unescaped(_ text: UnsafeBufferPointer<UInt8>) throws(JSONFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                try bytes.append(contentsOf: String(scalar(of: text, at: &index)).utf8)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Reads an escape after its backslash.
    private static func scalar(
        of text: UnsafeBufferPointer<UInt8>, at index: inout Int
    ) throws(JSONFailure) -> Unicode.Scalar {
        guard index < text.count else { throw JSONFailure("the input ends inside an escape", at: index) }
        let byte = text[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint(of: text, at: &index)
        default: throw JSONFailure("unknown escape in a string", at: index)
        }
    }

    /// Reads the four digits of an escape, and a second escape if the first one is half of a UTF-16 surrogate pair.
    private static func codePoint(
        of text: UnsafeBufferPointer<UInt8>, at index: inout Int
    ) throws(JSONFailure) -> Unicode.Scalar {
        var units = [try unit(of: text, at: &index)]
        let isPair = UTF16.isLeadSurrogate(units[0]) && text[index...].starts(with: "\\u".utf8)
        if isPair {
            index += 2
            units.append(try unit(of: text, at: &index))
        }
        guard let scalar = String(validating: units, as: UTF16.self)?.unicodeScalars.first else {
            throw JSONFailure("half of a surrogate pair in a string", at: index)
        }
        return scalar
    }

    private static func unit(of text: UnsafeBufferPointer<UInt8>, at index: inout Int) throws(JSONFailure) -> UInt16 {
        let digits = text[index...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONFailure("expected four hexadecimal digits", at: index) }
        index += 4
        return unit
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The index of the first byte from `start` that JSON does not allow unescaped in a string: a quote, a backslash or
    /// a control character (RFC 8259, section 7). The number of bytes if there is none.
    /// - Parameter isASCII: Set to false if a byte before it is not ASCII.
    func firstSpecial(from start: Int, isASCII: inout Bool) -> Int {
        var index = start
        var union: UInt64 = 0
        defer { if union & Self.highBits != 0 { isASCII = false } }
        // Eight bytes at a time: a bit of `found` is set in the first byte that is special, and perhaps in later ones.
        // https://graphics.stanford.edu/~seander/bithacks.html
        let bytes = UnsafeRawBufferPointer(self)
        while index + 8 <= count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quotes = word ^ (Self.lowBits &* UInt64(UInt8(ascii: "\"")))
            let backslashes = word ^ (Self.lowBits &* UInt64(UInt8(ascii: "\\")))
            let found =
                ((word &- (Self.lowBits &* 0x20)) & ~word
                    | (quotes &- Self.lowBits) & ~quotes | (backslashes &- Self.lowBits) & ~backslashes)
                & Self.highBits
            guard found == 0 else {
                let place = found.trailingZeroBitCount / 8
                union |= word & ((1 << UInt64(place * 8)) &- 1)
                return index + place
            }
            union |= word
            index += 8
        }
        while index < count, self[index] >= 0x20, self[index] != UInt8(ascii: "\""), self[index] != UInt8(ascii: "\\") {
            union |= UInt64(self[index])
            index += 1
        }
        return index
    }

    private static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }
}

extension [UInt8] {
    package mutating func append(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends the content of a JSON string: the characters that JSON does not allow in it are escaped.
    /// - Returns: True if there are no such characters.
    @discardableResult
    package mutating func append(escaping text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            var isASCII = true
            var start = 0
            while true {
                let end = utf8.firstSpecial(from: start, isASCII: &isASCII)
                append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<end]))
                guard end < utf8.count else { return start == 0 }
                append(escape: utf8[end])
                start = end + 1
            }
        }
    }

    private mutating func append(escape byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0a: append(UInt8(ascii: "n"))
        case 0x0c: append(UInt8(ascii: "f"))
        case 0x0d: append(UInt8(ascii: "r"))
        case ..<0x20:
            append(contentsOf: "u00".utf8)
            append((byte >> 4).hexadecimalDigit)
            append(byte.hexadecimalDigit)
        default: append(byte)
        }
    }
}
