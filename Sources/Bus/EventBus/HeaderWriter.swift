/// Writes a flat JSON object of texts.
struct HeaderWriter {
    private var bytes: [UInt8]
    private var isFirst = true

    /// - Parameter bytes: what stands before it. Nothing is appended here, where a second reference may still be alive: all
    ///   that stands before would be copied.
    init(continuing bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// - Returns: what stood before, and the object.
    mutating func finish() -> [UInt8] {
        append(isFirst ? "{}" : "}")
        return exchange(&bytes, with: [])
    }

    /// - Parameter text: left out if nil.
    mutating func write(_ key: StaticString, _ text: String?) {
        guard var text else { return }
        append(isFirst ? "{\"" : ",\"")
        append(key)
        append("\":\"")
        text.withUTF8 { append(escaping: $0) }
        append("\"")
        isFirst = false
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(escaping text: UnsafeBufferPointer<UInt8>) {
        guard text.contains(where: Self.mustEscape) else { return bytes.append(contentsOf: text) }
        for byte in text {
            if Self.mustEscape(byte) {
                bytes.append(contentsOf: Self.escaped(byte).utf8)
            } else {
                bytes.append(byte)
            }
        }
    }

    /// RFC 8259, section 7.
    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0a: "\\n"
        case 0x0c: "\\f"
        case 0x0d: "\\r"
        default: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
