package import Foundation

/// One incarnation of a publishing process: 16 random bytes. What it publishes is numbered, so that nothing is journalled twice.
package struct ProducerID: Hashable, Sendable {
    package static let length = 16

    package let bytes: [UInt8]

    package init() {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    package init(_ reader: inout ByteReader) throws(ProtocolError) {
        bytes = Array(try reader.bytes(count: Self.length))
    }

    package init(_ uuid: UUID) {
        bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
    }

    package var uuid: UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    package var hexadecimal: String { bytes.map(Topic.hexadecimal).joined() }
}
