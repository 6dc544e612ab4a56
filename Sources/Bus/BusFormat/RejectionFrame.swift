/// The reason for giving up the message of a checkpoint. As bytes: attempts (2) | code, reason (texts).
package struct RejectionFrame: Hashable, Sendable {
    package let attempts: UInt16
    package let code: String
    package let reason: String

    package init(attempts: UInt16, code: String, reason: String) {
        self.attempts = attempts
        self.code = code
        self.reason = reason
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        try self.init(&reader)
        try reader.end()
    }

    package init(_ reader: inout ByteReader) throws(ProtocolError) {
        self.init(attempts: try reader.read(), code: try reader.text(), reason: try reader.text())
    }

    package func write(to writer: inout ByteWriter) {
        writer.write(attempts)
        writer.write(text: code)
        writer.write(text: reason)
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }
}
