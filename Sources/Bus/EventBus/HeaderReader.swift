/// Reads a flat JSON object of texts without escapes, and nothing else.
struct HeaderReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    typealias Text = UnsafeBufferPointer<UInt8>

    /// - Parameter field: gets each key and text.
    /// - Returns: false when it is anything else.
    mutating func readObject(_ field: (Text, Text) -> Void) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        while let key = text(), take(UInt8(ascii: ":")), let value = text() {
            field(key, value)
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { return false }
            skipSpace()
            return index == bytes.count
        }
        return false
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func text() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            guard bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\\") else { return nil }
            index += 1
        }
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return Text(rebasing: bytes[start..<index])
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20, Self.isSpace(bytes[index]) { index += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }
}
