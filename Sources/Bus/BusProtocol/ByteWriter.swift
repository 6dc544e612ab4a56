internal import EventBus

/// Writes the binary frames of the protocol: integers big-endian, texts and blobs behind their length.
package struct ByteWriter: Hashable, Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func write(_ value: some FixedWidthInteger & UnsignedInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(bytes more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Bytes with their length in four before them.
    package mutating func write(blob: some Collection<UInt8>) {
        write(UInt32(clamping: blob.count))
        bytes.append(contentsOf: blob)
    }

    /// As ``write(blob:)``, for what `body` appends.
    package mutating func writeBlob(_ body: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(UInt32(0))
        body(&bytes)
        let count = UInt32(clamping: bytes.count - start - MemoryLayout<UInt32>.size)
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: count.bigEndian, toByteOffset: start, as: UInt32.self) }
    }

    /// A text with its length in two bytes before it; one that is too long for that is cut.
    package mutating func write(text: String) {
        var text = text.prefix(utf8: Int(UInt16.max))
        text.withUTF8 { utf8 in
            write(UInt16(clamping: utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }
}
