internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// The retained documents: what the steward has recorded, and what the journal has after the steward's watermark.
struct Documents {
    let journal: JournalConnection
    let skipped: SkippedMessages

    private struct Watermark {
        /// The sequence of the journal up to which the recorded documents are up to date.
        var sequence: UInt64
        /// The sequence of the watermark in the stream of the documents; nil if there is no watermark of this epoch.
        var place: Int?
    }

    /// The documents that filters select.
    /// - Parameters:
    ///   - epoch: The epoch of the journal.
    ///   - end: The sequence up to which the journal is read; nil for its present end. It must exist.
    func overlay(_ filters: [MessageFilter], epoch: UInt64, through end: UInt64? = nil) async throws -> Overlay {
        var overlay = Overlay(filters, epoch: epoch)
        let filters = filters.compactMap { filter -> MessageFilter? in
            switch filter.kind {
            case nil: .kind(.document, subject: filter.subject)
            case .document: filter
            default: nil
            }
        }
        guard !filters.isEmpty else { return overlay }
        let watermark = try await watermark(of: epoch)
        let last = if let end { end } else { try await journal.lastToRead() }
        if let place = watermark.place { try await readRecorded(filters, watermarkSequence: place) { overlay.add($0) } }
        try await journal.scan(filters, from: watermark.sequence + 1, through: last, epoch: epoch, skipped: skipped) {
            overlay.add($0)
            return true
        }
        return overlay
    }

    /// One document, or its tombstone; nil if there is neither.
    func document(_ name: DocumentName, epoch: UInt64) async throws -> Envelope? {
        let filter = MessageFilter.type(name.type, subject: name.subject)
        var overlay = Overlay([filter], epoch: epoch)
        let watermark = try await watermark(of: epoch)
        let last = try await journal.lastToRead()
        if let place = watermark.place {
            let subjects = [journal.subject(.document(name)), journal.subject(.documentWatermark)]
            let recorded = try await journal.retrying {
                let found = try await journal.jetStream.lastMessages(of: journal.names.documents, filters: subjects)
                // A server that lags behind the watermark does not have the documents up to it.
                guard found.end >= place else { throw Lag.error }
                return found.messages
            }
            var found = recorded.first { $0.subject == subjects[0] }
            // A server whose disk was damaged may lack the document, and the leader may have it.
            if found == nil, journal.connection.isClustered {
                found = try await journal.last(subjects[0], of: journal.names.documents)
            }
            if let found { add(found, to: &overlay) }
        }
        try await journal.scan([filter], from: watermark.sequence + 1, through: last, epoch: epoch, skipped: skipped) {
            if $0.documentName == name { overlay.add($0) }
            return true
        }
        return overlay.envelopes().first { DocumentName($0) == name }
    }

    private func watermark(of epoch: UInt64) async throws -> Watermark {
        let watermark = try await journal.read(WatermarkRecord.self, .documentWatermark, of: journal.names.documents)
        // The documents of another epoch are not those of this journal.
        guard case .value(let record, let place) = watermark, record.epoch == epoch else {
            return Watermark(sequence: 0)
        }
        return Watermark(sequence: record.sequence, place: Int(clamping: place))
    }

    /// Reads the recorded documents: the last message of each subject.
    /// - Parameter watermarkSequence: The sequence that the answering server must have reached.
    private func readRecorded(
        _ filters: [MessageFilter], watermarkSequence: Int, _ add: (BatchMessage.Stored) -> Void
    ) async throws {
        let patterns = Self.patterns(of: filters, in: journal.names)
        let watermark = journal.subject(.documentWatermark)
        let settings = ConsumerSettings(filters: patterns + [watermark], start: .lastPerSubject)
        try await journal.retrying {
            try await journal.jetStream.withConsumer(of: journal.names.documents, settings) { consumer in
                // After the first messages the consumer continues with changes. A server that lags behind sends the
                // watermark again when it has caught up.
                var hasWatermark = false
                var pending = consumer.initialPending
                while !hasWatermark || pending > 0 {
                    guard case .message(let message) = try await consumer.next() else { throw Lag.error }
                    pending = message.pending
                    if message.subject == watermark {
                        hasWatermark = hasWatermark || message.streamSequence >= watermarkSequence
                    } else if let stored = document(message.message.headers, message.message.body) {
                        add(stored)
                    }
                }
            }
        }
    }

    private func add(_ message: StoredMessage, to overlay: inout Overlay) {
        if let stored = document(message.headers, message.body) { overlay.add(stored) }
    }

    private func document(_ headers: NATSHeaders, _ body: [UInt8]) -> BatchMessage.Stored? {
        do {
            return try DocumentRecord(fields: headers.fields, body: body).stored
        } catch {
            skipped.record("\(error)")
            return nil
        }
    }

    /// The subjects of recorded documents. JetStream refuses patterns that overlap.
    private static func patterns(of filters: [MessageFilter], in names: StreamNames) -> [String] {
        let patterns = Set(filters.compactMap { names.documents(matching: $0) })
        let areDisjoint = patterns.allSatisfy { one in patterns.allSatisfy { $0 == one || !overlap(one, $0) } }
        if areDisjoint, patterns.count < SubjectFilters.capacity { return patterns.sorted() }
        return [names.documents(matching: .kind(.document))].compactMap(\.self)
    }

    private static func overlap(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.split(scalar: "."), right.split(scalar: "."))
        return left.count == right.count && zip(left, right).allSatisfy { "*" == $1 || "*" == $0 || $0 == $1 }
    }

    private enum Lag {
        static let error = NATSError(.timeout, "a server has not received all documents yet")
    }
}
