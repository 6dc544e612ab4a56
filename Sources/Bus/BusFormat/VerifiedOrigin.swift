internal import EventBus
internal import Support

/// The session and the publisher of a message as the broker has verified them. On a bus without keys nothing is
/// verified, and no message has a verified origin.
///
/// As bytes: session, publisher (texts). A message that was recorded when the bus had no keys has two empty texts.
package struct VerifiedOrigin: Hashable, Sendable {
    package let session: String
    /// The name of the publisher's key, or ``broker``.
    package let publisher: String

    /// The publisher of the messages of the broker. No key has this name.
    package static let broker = "broker"

    package init(session: String, publisher: String) {
        self.session = session
        self.publisher = publisher
    }

    /// Nil if both texts are empty.
    package init?(_ reader: inout ByteReader) throws(ProtocolError) {
        let (session, publisher) = (try reader.text(), try reader.text())
        guard !session.isEmpty || !publisher.isEmpty else { return nil }
        self.init(session: session, publisher: publisher)
    }

    /// The frame of a message that has no others beside it.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: session.utf8.count + publisher.utf8.count + 4)
        writer.write(self)
        return writer.bytes
    }

    /// Reads the frame of a message that has no others beside it.
    package init?(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        let origin = try VerifiedOrigin(&reader)
        try reader.end()
        guard let origin else { return nil }
        self = origin
    }
}

extension ByteWriter {
    package mutating func write(_ origin: VerifiedOrigin?) {
        write(text: origin?.session ?? "")
        write(text: origin?.publisher ?? "")
    }
}

extension Envelope {
    /// The message with the session and the publisher that the broker has verified, whatever its header says. Of the
    /// source `name/instance` the instance remains: it distinguishes the processes of one publisher.
    func with(_ origin: VerifiedOrigin?) -> Envelope {
        guard let origin else { return self }
        let instance = attributes.source.cut(at: "/").map { "/\($0.after)" } ?? ""
        let source = (origin.publisher + instance).prefix(utf8: Limits.nameLength)
        guard attributes.subject != origin.session || attributes.source != source else { return self }
        var message = self
        message.attributes.subject = origin.session
        message.attributes.source = String(source)
        return message
    }
}
