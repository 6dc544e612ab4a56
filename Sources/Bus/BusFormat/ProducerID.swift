package import Foundation
internal import Support

/// The id of a producer, that is of one bus object of a client process: the 16 bytes of a random UUID. The batches of a
/// producer are numbered, so that the broker recognises a batch that is sent twice.
package struct ProducerID: Hashable, Sendable {
    /// The number of bytes.
    package static let length = 16

    package let uuid: UUID

    package init(_ uuid: UUID = UUID()) {
        self.uuid = uuid
    }

    package init(_ reader: inout ByteReader) throws(ProtocolError) {
        let bytes = try reader.bytes(count: Self.length)
        uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: uuid.uuid, body)
    }

    package var hexadecimal: String {
        withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
                for (index, byte) in bytes.enumerated() {
                    (digits[2 * index], digits[2 * index + 1]) = ((byte >> 4).hexadecimalDigit, byte.hexadecimalDigit)
                }
                return 2 * bytes.count
            }
        }
    }
}
