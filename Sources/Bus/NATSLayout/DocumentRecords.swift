package import BusFormat
package import EventBus
internal import Support

/// A retained document, as the steward keeps it under `d.TYPENAME.PP.SUBJECT.KEY`: the packed message, and its position
/// in a header.
package struct DocumentRecord: Hashable, Sendable {
    private static let positionHeader = "Segue-Position"
    private static let maximumBodySize = Limits.dataSize + Limits.headerSize + 2048

    package let stored: BatchMessage.Stored

    package init(_ stored: BatchMessage.Stored) {
        self.stored = stored
    }

    /// The same document at another position, for a journal with another epoch.
    package func moved(to position: Position) -> DocumentRecord {
        DocumentRecord(BatchMessage.Stored(message: stored.message, position: position))
    }

    package var fields: [(name: String, value: String)] {
        [(Self.positionHeader, "\(stored.position.epoch)/\(stored.position.offset)")]
    }

    package var body: [UInt8] {
        var writer = ByteWriter()
        stored.message.write(to: &writer)
        return writer.bytes
    }

    /// - Throws: ``ProtocolError`` if the record is damaged.
    package init(fields: [String: String], body: [UInt8]) throws(ProtocolError) {
        let numbers = (fields[Self.positionHeader] ?? "").split(scalar: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let epoch = UInt64(numbers[0]), let offset = Position.offset(numbers[1]), offset > 0
        else {
            throw ProtocolError(.malformed, "the header '\(Self.positionHeader)' of a document is missing or malformed")
        }
        guard body.count <= Self.maximumBodySize else {
            throw ProtocolError(.tooLarge, "a document exceeds \(Self.maximumBodySize) bytes")
        }
        var reader = ByteReader(body)
        stored = BatchMessage.Stored(
            message: try PublishedMessage(&reader), position: Position(epoch: epoch, offset: offset))
        try reader.end()
    }
}

/// The retained documents: those that the steward has recorded, and over them the documents that the journal has after
/// the steward's watermark.
///
/// Read the watermark first, then the end of the journal, then the recorded documents, then the journal from the
/// watermark to the end. The recorded ones can be newer than the watermark. The later position of a name counts, in any
/// order, so the result is exact whether or not a steward runs.
package struct Overlay: Sendable {
    private let filters: [MessageFilter]
    private let epoch: UInt64
    private var documents: [DocumentName: BatchMessage.Stored] = [:]

    /// - Parameter epoch: The epoch of the journal. Documents of another one are left out.
    package init(_ filters: [MessageFilter], epoch: UInt64) {
        self.filters = filters
        self.epoch = epoch
    }

    /// The number of names, including those of withdrawn documents.
    package var count: Int { documents.count }

    /// Adds a document, or a tombstone, that the steward has recorded or the journal has. Other messages, and documents
    /// that no filter selects, have no effect.
    package mutating func add(_ stored: BatchMessage.Stored) {
        guard stored.position.epoch == epoch, let name = stored.documentName,
            filters.contains(where: { $0.matches(name.type, subject: name.subject) })
        else { return }
        if let known = documents[name], known.position.offset >= stored.position.offset { return }
        documents[name] = stored
    }

    /// The documents in the order of their positions. Withdrawn documents, and those with an unreadable header, are
    /// left out.
    /// - Parameters:
    ///   - after: Only documents after this offset are returned.
    ///   - end: Only documents up to this offset are returned. A reader that continues after it receives the later
    ///     ones.
    ///   - limit: The maximum number of documents.
    package func envelopes(after: UInt64 = 0, through end: UInt64 = .max, limit: Int = .max) -> [Envelope] {
        var envelopes: [Envelope] = []
        let inOrder = documents.values.filter { $0.position.offset > after && $0.position.offset <= end }
            .sorted { $0.position.offset < $1.position.offset }
        for stored in inOrder {
            guard envelopes.count < limit else { break }
            // The data of a tombstone is empty.
            guard !stored.message.data.isEmpty, let envelope = try? stored.envelope(), envelope.unreadableHeader == nil
            else { continue }
            envelopes.append(envelope)
        }
        return envelopes
    }
}
