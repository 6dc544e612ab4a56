/// Percent-encoding (RFC 3986, 2.1). The result is valid in a query, in a form and in a segment of a path.
package enum PercentEncoding {
    /// Encodes all characters except the unreserved ones.
    package static func encode(_ text: String) -> String {
        // Most texts are ids.
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }

    /// Decodes a part of a URL.
    ///
    /// - Returns: Nil if a `%` is not followed by two hexadecimal digits, or if the bytes are not UTF-8.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes a text. Nil as for bytes.
    package static func decode(_ text: String) -> String? { decode(Array(text.utf8)[...]) }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        let scalar = Unicode.Scalar(byte)
        return scalar.isASCIILetter || scalar.isASCIIDigit || ["-", ".", "_", "~"].contains(scalar)
    }

    /// The number of a hexadecimal digit in upper or lower case.
    private static func digit(_ byte: UInt8) -> UInt8? {
        UInt8(hexadecimalDigit: Unicode.Scalar(byte).isASCIILetter ? byte | 0x20 : byte)
    }
}
