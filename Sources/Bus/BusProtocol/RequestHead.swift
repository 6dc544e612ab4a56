/// The first frame of a request: magic, version, operation, id.
package struct RequestHead: Hashable, Sendable {
    package static let length = 12
    /// The place of the operation in its bytes.
    package static let operationIndex = 3

    package let operation: Operation
    /// Chosen by the client; the reply carries it.
    package let id: UInt64

    package init(operation: Operation, id: UInt64) {
        self.operation = operation
        self.id = id
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.write(ProtocolVersion.magic)
        writer.write(ProtocolVersion.current)
        writer.write(operation.rawValue)
        writer.write(id)
        return writer.bytes
    }

    /// The id alone, which can be read even if the rest is not understood: so that a refusal finds its request.
    package static func id(of frame: [UInt8]) -> UInt64? {
        var reader = ByteReader(frame)
        guard (try? reader.read()) == ProtocolVersion.magic,
            (try? reader.bytes(count: 2)) != nil
        else { return nil }
        return try? reader.read()
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        guard try reader.read() == ProtocolVersion.magic else {
            throw ProtocolError(.malformed, "the request does not begin with SG")
        }
        let version: UInt8 = try reader.read()
        guard version == ProtocolVersion.current else {
            throw ProtocolError(
                .version, "version \(version) of the protocol is not spoken here, but \(ProtocolVersion.current)")
        }
        let number: UInt8 = try reader.read()
        guard let operation = Operation(rawValue: number) else {
            throw ProtocolError(.operation, "operation \(number) is not known")
        }
        self.init(operation: operation, id: try reader.read())
        try reader.end()
    }
}
