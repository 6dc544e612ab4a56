internal import BusProtocol
internal import EventBus
internal import NATS
internal import NATSLayout

/// The dead letters: those that the steward keeps, and those of the journal after its mark.
struct DeadLetters: Sendable {
    /// The number of letters that are read at the same time.
    private static let parallelCount = 32

    let journal: Journal

    /// The letters that are not settled: the consumer of each one, by id.
    private struct Outstanding {
        /// The letters that the steward keeps.
        var kept: [Int64: String] = [:]
        /// The letters of the journal after the mark.
        var recent: [Int64: String] = [:]
    }

    /// See ``EventBus/deadLetters(of:)``.
    func list(of consumer: String?) async throws -> [DeadLetter] {
        let epoch = try await journal.identity().epoch
        let letters = try await outstanding(epoch)
        let kept = try await read(letters.kept, of: consumer) { try await keptLetter($0, of: $1, epoch) }
        let recent = try await read(letters.recent, of: consumer) { try await recentLetter($0, of: $1, epoch) }
        return (kept + recent).sorted { $0.id < $1.id }
    }

    /// - Throws: ``BusError`` with code `letter` if one of the letters does not exist.
    func require(_ ids: [Int64]) async throws {
        let letters = try await outstanding(try await journal.identity().epoch)
        let missing = Set(ids).subtracting(letters.kept.keys).subtracting(letters.recent.keys).min()
        if let missing { throw BusError(.letter, "there is no dead letter \(missing)") }
    }

    /// Publishes a batch that settles dead letters.
    /// - Throws: ``BusError`` with code `letter` if one of them does not exist: then nothing is published.
    func settle(_ batch: Batch, send: Send) async throws -> Sent {
        let subject = journal.subject(.settlement)
        while true {
            // A settlement after this one makes the server refuse the batch. So the letters that are read next are
            // those at the time of the batch.
            let last = try await journal.last(subject)
            try await require(batch.settledLetters)
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

    private func outstanding(_ epoch: UInt64) async throws -> Outstanding {
        var letters = Outstanding()
        // The mark comes first: the letters that the steward keeps are at least as new as a mark that was read before.
        let mark = try await journal.read(MarkRecord.self, .documentMark, of: journal.names.documents)?.record
        let names = journal.names
        for subject in try await journal.subjects(of: names.deadLetters, matching: names.letters(of: nil)) {
            guard case .deadLetter(let consumer, let sequence) = BusSubject(subject, in: names.namespace) else {
                continue
            }
            letters.kept[Int64(clamping: sequence)] = consumer
        }
        let start = mark.map { $0.epoch == epoch ? $0.sequence + 1 : 1 } ?? 1
        var settled: Set<Int64> = []
        try await journal.readHeaders(
            [names.batches], from: start, through: try await journal.lastBatch(), epoch: epoch
        ) { message in
            // A message that cannot be read was not published by a client of this bus.
            guard let headers = try? BatchHeaders(fields: message.message.headers.fields) else { return .goOn }
            settled.formUnion(headers.settledLetters)
            if headers.hasRejection, case .results(let owner, _) = BusSubject(message.subject, in: names.namespace) {
                letters.recent[Int64(message.streamSequence)] = owner.consumer
            }
            return .goOn
        }
        letters.recent = letters.recent.filter { !settled.contains($0.key) && letters.kept[$0.key] == nil }
        letters.kept = letters.kept.filter { !settled.contains($0.key) }
        return letters
    }

    private func read(
        _ letters: [Int64: String], of consumer: String?,
        _ read: @escaping @Sendable (Int64, String) async throws -> DeadLetter?
    ) async throws -> [DeadLetter] {
        var rest = letters.filter { consumer == nil || $0.value == consumer }[...]
        var result: [DeadLetter] = []
        while !rest.isEmpty {
            try await withThrowingTaskGroup(of: DeadLetter?.self) { tasks in
                for (id, consumer) in rest.prefix(Self.parallelCount) {
                    tasks.addTask { try await read(id, consumer) }
                }
                for try await letter in tasks { result += [letter].compactMap(\.self) }
            }
            rest = rest.dropFirst(Self.parallelCount)
        }
        return result
    }

    /// Reads a letter that the steward keeps. Nil if it was settled meanwhile, or cannot be read.
    private func keptLetter(_ id: Int64, of consumer: String, _ epoch: UInt64) async throws -> DeadLetter? {
        let subject = journal.subject(.deadLetter(consumer: consumer, sequence: UInt64(id)))
        let stored = try await journal.last(subject, of: journal.names.deadLetters)
        guard let stored, let record = try? LetterRecord(fields: stored.headers.fields, body: stored.body),
            record.epoch == epoch
        else { return nil }
        return try? record.letter(of: consumer, sequence: UInt64(id))
    }

    private func recentLetter(_ id: Int64, of consumer: String, _ epoch: UInt64) async throws -> DeadLetter? {
        guard let stored = try await journal.batch(at: UInt64(id)) else {
            // Retention has removed the batch since; the steward keeps the letter.
            return try await keptLetter(id, of: consumer, epoch)
        }
        let rejected = (try? stored.batch.content(at: UInt64(id), of: epoch))?.rejected
        return try? rejected?.letter(of: consumer, sequence: UInt64(id), time: stored.time)
    }
}
