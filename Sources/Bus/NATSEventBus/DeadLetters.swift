internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout

/// The dead letters: those that the steward keeps, and those of the journal after its watermark.
struct DeadLetters: Sendable {
    /// The number of letters that are read at the same time.
    private static let parallelCount = 32

    let journal: JournalConnection

    /// The usual size of a page: see ``page(of:after:limit:size:_:)``.
    static let pageSize = 16 * 1024 * 1024

    /// A letter that is not settled.
    private struct Outstanding {
        let consumer: String
        /// True if the steward keeps it; false if it is in the journal after the watermark.
        let isKept: Bool
    }

    /// See ``BusInspection/deadLetters(of:after:limit:)``.
    /// - Parameters:
    ///   - size: The number of bytes of data after which the page ends.
    ///   - transform: Returns the part of a letter that the page has.
    func page<Element: Sendable>(
        of consumer: String?, after id: Int64, limit: Int, size maximumSize: Int,
        _ transform: @escaping @Sendable (DeadLetter) -> Element
    ) async throws -> [Element] {
        let epoch = try await journal.identity().epoch
        var rest = try await outstanding(epoch, of: consumer).filter { $0.key > id }.sorted { $0.key < $1.key }[...]
        var page: [Element] = []
        var size = 0
        while !rest.isEmpty, page.count < limit, size < maximumSize {
            let next = rest.prefix(min(Self.parallelCount, limit - page.count))
            rest = rest.dropFirst(next.count)
            var found: [Int64: (element: Element, size: Int)] = [:]
            try await withThrowingTaskGroup(of: (Int64, Element, Int)?.self) { tasks in
                for (id, outstanding) in next {
                    tasks.addTask {
                        let deadLetter = try await deadLetter(id, of: outstanding, epoch: epoch)
                        return deadLetter.map { (id, transform($0), $0.message.data.count) }
                    }
                }
                for try await case (let id, let element, let size)? in tasks { found[id] = (element, size) }
            }
            page += next.compactMap { found[$0.key]?.element }
            size += found.values.map(\.size).reduce(0, +)
        }
        return page
    }

    /// Nil if the letter was settled meanwhile, or cannot be read.
    private func deadLetter(_ id: Int64, of outstanding: Outstanding, epoch: UInt64) async throws -> DeadLetter? {
        outstanding.isKept
            ? try await keptDeadLetter(id, of: outstanding.consumer, epoch)
            : try await recentDeadLetter(id, of: outstanding.consumer, epoch)
    }

    /// See ``BusInspection/deadLetterCount(of:)``.
    func count(of consumer: String?) async throws -> Int {
        try await outstanding(try await journal.identity().epoch, of: consumer).count
    }

    /// - Throws: ``BusError`` with code `deadLetter` if one of the dead letters does not exist.
    func require(_ ids: [Int64]) async throws {
        let deadLetters = try await outstanding(try await journal.identity().epoch, of: nil)
        let missing = Set(ids).subtracting(deadLetters.keys).min()
        if let missing { throw BusError(.deadLetter, "there is no dead letter \(missing)") }
    }

    /// Publishes a batch that resolves dead letters.
    /// - Throws: ``BusError`` with code `deadLetter` if one of them does not exist: then nothing is published.
    func settle(_ batch: Batch, send: Send) async throws -> Lanes.Recorded {
        let subject = journal.subject(.settlement)
        while true {
            // A settlement after this one makes the server refuse the batch. So the dead letters that are read next
            // are those at the time of the batch.
            let last = try await journal.last(subject)
            try await require(batch.resolvedDeadLetters)
            let publication = try Publication(
                batch, expectation: Expectation(subject: nil, sequence: UInt64(last?.sequence ?? 0)))
            do {
                return try await send(publication)
            } catch let error as BusError where error.code == .fenced {
                // Another settlement was faster.
            }
        }
    }

    // MARK: Reading

    /// The letters that are not settled, by id.
    private func outstanding(_ epoch: UInt64, of consumer: String?) async throws -> [Int64: Outstanding] {
        var deadLetters: [Int64: Outstanding] = [:]
        // The watermark comes first: the letters that the steward keeps are at least as new as a watermark that was
        // read before.
        let watermark = try await journal.read(WatermarkRecord.self, .documentWatermark, of: journal.names.documents)
            .value
        let names = journal.names
        for subject in try await journal.subjects(of: names.deadLetters, matching: names.deadLetterFilter(of: consumer))
        {
            guard case .deadLetter(let consumer, let sequence) = BusSubject(subject, in: names.namespace) else {
                continue
            }
            deadLetters[Int64(clamping: sequence)] = Outstanding(consumer: consumer, isKept: true)
        }
        let start = watermark.map { $0.epoch == epoch ? $0.sequence + 1 : 1 } ?? 1
        var settled: Set<Int64> = []
        try await journal.readHeaders(
            [names.batches], from: start, through: try await journal.lastBatch(), epoch: epoch
        ) { message in
            // A message that cannot be read was not published by a client of this bus.
            guard let headers = try? BatchHeaders(fields: message.message.headers.fields) else { return .goOn }
            settled.formUnion(headers.resolvedDeadLetters)
            if headers.hasRejection, case .results(let owner, _) = BusSubject(message.subject, in: names.namespace),
                consumer == nil || owner.consumer == consumer
            {
                let id = Int64(message.streamSequence)
                deadLetters[id] = deadLetters[id] ?? Outstanding(consumer: owner.consumer, isKept: false)
            }
            return .goOn
        }
        return deadLetters.filter { !settled.contains($0.key) }
    }

    /// Reads a dead letter that the steward keeps. Nil if it was resolved meanwhile, or cannot be read.
    private func keptDeadLetter(_ id: Int64, of consumer: String, _ epoch: UInt64) async throws -> DeadLetter? {
        let subject = journal.subject(.deadLetter(consumer: consumer, sequence: UInt64(id)))
        let stored = try await journal.last(subject, of: journal.names.deadLetters)
        guard let stored, let record = try? DeadLetterRecord(fields: stored.headers.fields, body: stored.body),
            record.epoch == epoch
        else { return nil }
        return try? record.deadLetter(of: consumer, sequence: UInt64(id))
    }

    private func recentDeadLetter(_ id: Int64, of consumer: String, _ epoch: UInt64) async throws -> DeadLetter? {
        guard let stored = try await journal.batch(at: UInt64(id)) else {
            // Retention has removed the batch since; the steward keeps the letter.
            return try await keptDeadLetter(id, of: consumer, epoch)
        }
        let rejected = (try? stored.batch.content(at: UInt64(id), of: epoch))?.rejected
        return try? rejected?.deadLetter(of: consumer, sequence: UInt64(id), time: stored.time)
    }
}
