internal import EventBus

/// Reads the binary frames of the protocol. Everything it is given came from outside: it throws, it never traps.
package struct ByteReader {
    private let frame: [UInt8]
    private var index = 0

    package init(_ frame: [UInt8]) {
        self.frame = frame
    }

    package var isAtEnd: Bool { index == frame.count }

    package mutating func read<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(ProtocolError) -> Integer {
        let place = try take(MemoryLayout<Integer>.size).lowerBound
        return frame.withUnsafeBytes { Integer(bigEndian: $0.loadUnaligned(fromByteOffset: place, as: Integer.self)) }
    }

    package mutating func bytes(count: Int) throws(ProtocolError) -> Bytes {
        frame[try take(count)]
    }

    private mutating func take(_ count: Int) throws(ProtocolError) -> Range<Int> {
        guard frame.count - index >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        defer { index += count }
        return index..<index + count
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

    /// The name of a durable consumer.
    package mutating func consumer() throws(ProtocolError) -> String {
        let name = try text()
        do { try Rules.checkConsumer(name) } catch { throw ProtocolError(error) }
        return name
    }

    package func end() throws(ProtocolError) {
        guard isAtEnd else { throw ProtocolError(.malformed, "a frame is too long") }
    }
}
