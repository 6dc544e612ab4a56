package import EventBus

/// Asks for one retained document. Frame: epoch (8), type, subject, key (texts).
package struct DocumentRequest: Hashable, Sendable {
    /// 0 for whichever journal there is.
    package let epoch: UInt64
    package let type: MessageType
    package let subject: String
    /// Empty for the document without a key.
    package let key: String

    /// - Throws: ``ProtocolError`` if no document can have this type, subject and key.
    package init(epoch: UInt64 = 0, type: MessageType, subject: String, key: String) throws(ProtocolError) {
        do { try Rules.checkDocument(type, subject: subject, key: key) } catch { throw ProtocolError(error) }
        self.epoch = epoch
        self.type = type
        self.subject = subject
        self.key = key
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let frame = frames.first, frames.count == 1 else {
            throw ProtocolError(.malformed, "document has one frame: epoch, type, subject, key")
        }
        var reader = ByteReader(frame)
        let epoch: UInt64 = try reader.read()
        let name = try reader.text()
        guard let type = MessageType(name) else {
            throw ProtocolError(.topic, "'\(name.prefix(80))' is not the type of a message")
        }
        try self.init(epoch: epoch, type: type, subject: try reader.text(), key: try reader.text())
        try reader.end()
    }

    package var frames: [[UInt8]] {
        var writer = ByteWriter()
        writer.write(epoch)
        writer.write(text: type.description)
        writer.write(text: subject)
        writer.write(text: key)
        return [writer.bytes]
    }
}
