package import BusFormat
package import EventBus
package import Foundation

/// One JetStream message, which is one whole batch.
///
/// The body has the messages one after another (``PublishedMessage``). If the batch gives up a message, the rejection
/// (``RejectionFrame``) and the message follow, so that a dead letter can be read without a look-up.
package struct BatchMessage: Hashable, Sendable {
    package let headers: BatchHeaders
    package let body: [UInt8]

    /// - Parameter body: The packed messages, and what ``RejectedMessage`` appends if the headers have a rejection.
    package init(headers: BatchHeaders, body: [UInt8]) {
        self.headers = headers
        self.body = body
    }

    /// Reads the headers of a stored message. ``content(at:of:)`` reads the body.
    package init(fields: [String: String], body: [UInt8]) throws(ProtocolError) {
        try self.init(body: body) { fields[$0.rawValue] }
    }

    /// Reads the headers of a stored message. ``content(at:of:)`` reads the body.
    /// - Parameter field: The value of a header; nil if there is none, or it is not needed.
    package init(body: [UInt8], _ field: (BatchHeaders.Name) -> String?) throws(ProtocolError) {
        guard body.count <= Self.maximumBodySize else {
            throw ProtocolError(.tooLarge, "the body of a batch exceeds \(Self.maximumBodySize) bytes")
        }
        self.init(headers: try BatchHeaders(field), body: body)
    }

    /// The maximum size of a body that is read: a whole batch, and a message that it gives up.
    private static let maximumBodySize = Limits.batchSize + 5 * 1024 * 1024

    /// The size that the server compares with its `max_payload`, in bytes.
    package var size: Int { headers.size + body.count }

    // MARK: Reading

    /// The messages of a batch with their positions.
    package struct Content: Hashable, Sendable {
        package let messages: [Stored]
        package let rejected: RejectedMessage?
    }

    /// A message of a batch.
    package struct Stored: Hashable, Sendable {
        package let message: PublishedMessage
        package let position: Position

        /// The message as an envelope. If its header is unreadable or contradicts the topic, the envelope has the type
        /// and the partition of the topic.
        /// - Throws: ``BusError`` with code `malformed` if the topic is invalid.
        package func envelope() throws -> Envelope {
            try Envelope(
                topic: message.topic, header: message.header, data: message.data,
                position: position)
        }

        /// The name of the document, if the message is one: also of a document whose header cannot be read.
        package var documentName: DocumentName? {
            guard let topic = Topic(message.topic), topic.type.kind == .document else { return nil }
            return DocumentName(topic.type, subject: message.subject, key: message.key)
        }
    }

    /// Reads the body of the message that the stream has at `sequence`.
    /// - Throws: ``ProtocolError`` if the body is damaged, or if the sequence cannot be that of a batch.
    package func content(at sequence: UInt64, of epoch: UInt64) throws(ProtocolError) -> Content {
        var reader = ByteReader(body)
        var messages: [Stored] = []
        messages.reserveCapacity(headers.count)
        for index in 0..<headers.count {
            guard let place = StreamPosition(sequence: sequence, index: index, count: headers.count) else {
                throw ProtocolError(.malformed, "a batch cannot have the sequence \(sequence)")
            }
            messages.append(
                Stored(message: try PublishedMessage(&reader), position: Position(epoch: epoch, offset: place.offset)))
        }
        var rejected: RejectedMessage?
        if headers.hasRejection, let progress = headers.progress {
            rejected = try RejectedMessage(
                &reader, position: Position(epoch: epoch, offset: progress.offset))
        }
        try reader.end()
        return Content(messages: messages, rejected: rejected)
    }
}

/// A message that a durable consumer gives up, and the reason.
package struct RejectedMessage: Hashable, Sendable {
    package let rejection: RejectionFrame
    package let message: BatchMessage.Stored

    /// - Parameter message: The message as it was received. Its header may be unreadable: then its bytes are kept.
    /// - Throws: ``BusError`` with code `deadLetter` if the message has no position.
    package init(_ rejection: Rejection, of message: Envelope) throws {
        guard let position = message.position else {
            throw BusError(.deadLetter, "\(message.type) has no position, so it cannot be given up")
        }
        let published: PublishedMessage
        if let header = message.unreadableHeader {
            published = PublishedMessage(
                topic: "\(message.type).\(header.partition.token)", subject: "", key: "",
                header: Array(header.bytes)[...],
                data: Array(message.data)[...])
        } else {
            published = try PublishedMessage(message)
        }
        self.rejection = RejectionFrame(
            attempts: UInt16(clamping: rejection.attempts), code: rejection.code.shortened(),
            reason: rejection.reason.shortened(to: 4_000))
        self.message = BatchMessage.Stored(message: published, position: position)
    }

    fileprivate init(_ reader: inout ByteReader, position: Position) throws(ProtocolError) {
        rejection = try RejectionFrame(&reader)
        message = BatchMessage.Stored(message: try PublishedMessage(&reader), position: position)
    }

    /// The bytes after the messages of a batch.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        rejection.write(to: &writer)
        message.message.write(to: &writer)
        return writer.bytes
    }

    /// The dead letter of a batch.
    /// - Parameters:
    ///   - sequence: The sequence of the batch, which is the id of the letter.
    ///   - time: The time at which the stream has stored the batch.
    /// - Throws: ``BusError`` with code `malformed` if the topic of the message is invalid.
    package func deadLetter(of consumer: String, sequence: UInt64, time: Date) throws -> DeadLetter {
        DeadLetter(
            id: Int64(clamping: sequence), consumer: consumer,
            rejection: Rejection(code: rejection.code, reason: rejection.reason, attempts: Int(rejection.attempts)),
            time: time, message: try message.envelope())
    }
}
