/// Reads the binary frames of the protocol. Everything it is given came from outside: it throws, it never traps.
package struct ByteReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func read<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(ProtocolError) -> Integer {
        try bytes(count: MemoryLayout<Integer>.size).reduce(0) { $0 << 8 | Integer($1) }
    }

    package mutating func bytes(count: Int) throws(ProtocolError) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    package mutating func text() throws(ProtocolError) -> String {
        let count = try read(UInt16.self)
        guard let text = String(validating: try bytes(count: Int(count)), as: UTF8.self) else {
            throw ProtocolError(.malformed, "a text is not UTF-8")
        }
        return text
    }

    package func end() throws(ProtocolError) {
        guard isAtEnd else { throw ProtocolError(.malformed, "a frame is too long") }
    }
}
