internal import EventBus

/// Reads the binary frames of the protocol. Everything it is given came from outside: it throws, it never traps.
package struct ByteReader {
    private var rest: Bytes

    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func read<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(ProtocolError) -> Integer {
        var value: Integer = 0
        for byte in try bytes(count: MemoryLayout<Integer>.size) {
            value = value << 8 | Integer(byte)
        }
        return value
    }

    package mutating func bytes(count: Int) throws(ProtocolError) -> Bytes {
        guard rest.count >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        let bytes = rest[rest.startIndex..<rest.startIndex + count]
        rest = rest[bytes.endIndex...]
        return bytes
    }

    /// Bytes behind their length in four.
    package mutating func blob() throws(ProtocolError) -> Bytes {
        try bytes(count: Int(try read(UInt32.self)))
    }

    package mutating func text() throws(ProtocolError) -> String {
        let bytes = try bytes(count: Int(try read(UInt16.self)))
        guard let text = bytes.withUnsafeBufferPointer({ String(utf8: $0) }) else {
            throw ProtocolError(.malformed, "a text is not UTF-8")
        }
        return text
    }

    package func end() throws(ProtocolError) {
        guard isAtEnd else { throw ProtocolError(.malformed, "a frame is too long") }
    }
}
