internal import EventBus
internal import Support

/// A slice of a frame. The header and data of a received message are slices of its frame, so that reading the frame
/// does not copy them.
package typealias Bytes = ArraySlice<UInt8>

/// Reads the binary frames of the protocol. Reading an invalid frame throws an error.
package struct ByteReader {
    private let frame: [UInt8]
    private var index = 0

    package init(_ frame: [UInt8]) {
        self.frame = frame
    }

    package var isAtEnd: Bool { index == frame.count }

    // Not generic: another module could not specialise the function.
    package mutating func read(_ type: UInt8.Type = UInt8.self) throws(ProtocolError) -> UInt8 { try integer() }
    package mutating func read(_ type: UInt16.Type = UInt16.self) throws(ProtocolError) -> UInt16 { try integer() }
    package mutating func read(_ type: UInt32.Type = UInt32.self) throws(ProtocolError) -> UInt32 { try integer() }
    package mutating func read(_ type: UInt64.Type = UInt64.self) throws(ProtocolError) -> UInt64 { try integer() }

    private mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>() throws(ProtocolError) -> Integer {
        let place = try consume(MemoryLayout<Integer>.size).lowerBound
        return frame.withUnsafeBytes { Integer(bigEndian: $0.loadUnaligned(fromByteOffset: place, as: Integer.self)) }
    }

    /// Reads an offset, a sequence, an owner generation or a count, in 8 bytes: at most `Position.greatestOffset`.
    package mutating func number() throws(ProtocolError) -> UInt64 {
        let number: UInt64 = try read()
        guard number <= Position.greatestOffset else {
            throw ProtocolError(.malformed, "\(number) is not an offset, a sequence or a count: it is too large")
        }
        return number
    }

    /// Reads a byte that is 0 for false or 1 for true.
    package mutating func flag() throws(ProtocolError) -> Bool {
        let byte: UInt8 = try read()
        guard byte <= 1 else { throw ProtocolError(.malformed, "\(byte) is not a flag: it must be 0 or 1") }
        return byte == 1
    }

    package mutating func bytes(count: Int) throws(ProtocolError) -> Bytes {
        frame[try consume(count)]
    }

    private mutating func consume(_ count: Int) throws(ProtocolError) -> Range<Int> {
        guard frame.count - index >= count else { throw ProtocolError(.malformed, "a frame is too short") }
        defer { index += count }
        return index..<index + count
    }

    /// Reads a blob: its length in 4 bytes, then that many bytes.
    package mutating func blob() throws(ProtocolError) -> Bytes {
        try bytes(count: Int(try read(UInt32.self)))
    }

    package mutating func text() throws(ProtocolError) -> String {
        let bytes = try bytes(count: Int(try read(UInt16.self)))
        guard let text = bytes.withUnsafeBufferPointer({ String(utf8: $0) }) else {
            throw ProtocolError(.malformed, "a string is not UTF-8")
        }
        return text
    }

    /// Reads the name of a durable consumer and checks it.
    package mutating func consumer() throws(ProtocolError) -> String {
        let name = try text()
        do { try Rules.checkConsumer(name) } catch { throw ProtocolError(error) }
        return name
    }

    package func end() throws(ProtocolError) {
        guard isAtEnd else { throw ProtocolError(.malformed, "a frame is too long") }
    }
}

/// Writes the binary frames of the protocol: big-endian integers; texts and blobs after their length.
package struct ByteWriter: Hashable, Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    // Not generic: another module could not specialise the functions.
    package mutating func write(_ value: UInt8) { bytes.append(value) }
    package mutating func write(_ value: UInt16) { append(value) }
    package mutating func write(_ value: UInt32) { append(value) }
    package mutating func write(_ value: UInt64) { append(value) }

    private mutating func append(_ value: some FixedWidthInteger & UnsignedInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(bytes more: [UInt8]) {
        bytes.append(contentsOf: more)
    }

    /// Writes a blob: its length in 4 bytes, then the bytes.
    package mutating func write(blob: Bytes) {
        write(UInt32(clamping: blob.count))
        bytes.append(contentsOf: blob)
    }

    /// Does the same with bytes that are not in an array.
    package mutating func write(blob: UnsafeRawBufferPointer) {
        write(UInt32(clamping: blob.count))
        bytes.append(contentsOf: blob)
    }

    /// Writes a blob of the bytes that `body` appends.
    mutating func writeBlob<Failure: Error>(_ body: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        let start = bytes.count
        write(UInt32(0))
        try body(&bytes)
        let count = UInt32(clamping: bytes.count - start - MemoryLayout<UInt32>.size)
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: count.bigEndian, toByteOffset: start, as: UInt32.self) }
    }

    /// Writes a text: its length in 2 bytes, then its UTF-8. A string of more than 65,535 bytes is cut to at most this
    /// length.
    package mutating func write(text: String) {
        var text = text.prefix(utf8: Int(UInt16.max))
        text.withUTF8 { utf8 in
            write(UInt16(clamping: utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }
}
