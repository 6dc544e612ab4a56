/// Writes a flat JSON object of texts into memory that has room for it.
struct HeaderWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0

    /// The most that one byte of a text becomes: a control character is written as `\u0001`.
    static let escapedSize = 6
    /// Enough for all keys of a header, with what stands around them, its times and its version.
    static let fixedCapacity = 512

    /// - Parameter memory: ``fixedCapacity`` and ``escapedSize`` for each byte of its texts.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// The object.
    mutating func finish() -> UnsafeRawBufferPointer {
        append("}")
        return UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    /// - Parameter text: left out if nil.
    mutating func write(_ key: StaticString, _ text: String?) {
        guard let text else { return }
        begin(key)
        append(escaping: text)
        append("\"")
    }

    mutating func write(_ key: StaticString, _ type: MessageType) {
        begin(key)
        append(escaping: type.kind.rawValue)
        append(".")
        append(escaping: type.name)
        append("\"")
    }

    private mutating func begin(_ key: StaticString) {
        append(count == 0 ? "{\"" : ",\"")
        append(key)
        append("\":\"")
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(escaping text: String) {
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: Self.mustEscape) else { return append(UnsafeRawBufferPointer(utf8)) }
            for byte in utf8 {
                let written = Self.mustEscape(byte) ? Self.escaped(byte) : [byte]
                written.withUnsafeBytes { append($0) }
            }
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "a header is larger than what was reckoned")
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// RFC 8259, section 7.
    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "\""): Array("\\\"".utf8)
        case UInt8(ascii: "\\"): Array("\\\\".utf8)
        case 0x08: Array("\\b".utf8)
        case 0x09: Array("\\t".utf8)
        case 0x0a: Array("\\n".utf8)
        case 0x0c: Array("\\f".utf8)
        case 0x0d: Array("\\r".utf8)
        default: Array(("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
        }
    }
}
