internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// Reading a known part of the journal.
extension Journal {
    /// Calls `body` for each message of a range of sequences whose batch can have a message that a filter selects,
    /// until it returns false. Damaged batches are left out.
    func scan(
        _ filters: [MessageFilter], from first: UInt64, through last: UInt64, epoch: UInt64,
        skipped: SkippedMessages, _ body: (BatchMessage.Stored) throws -> Bool
    ) async throws {
        guard first <= last, !filters.isEmpty else { return }
        let patterns = SubjectFilters(filters).texts(in: names.namespace)
        // Usually there is nothing after the steward's mark. Then no consumer is needed.
        guard try await retrying({ try await hasBatches(matching: patterns, from: first, through: last) }) else {
            return
        }
        let reader = BatchReader(
            self, patterns: patterns, after: Place.end(of: first - 1), until: Place.end(of: last), epoch: epoch)
        try await reader.read { message in
            let batch = JournalBatch(message: message, epoch: epoch, start: 0, end: .max)
            do {
                for stored in try batch.messages() where try !body(stored) { return .stop }
            } catch let error as ProtocolError {
                skipped.note("message \(batch.sequence) on '\(message.subject)' is not a batch: \(error)")
            }
            return .goOn
        }
    }

    /// Calls `body` for each message with one of these subjects in a range of sequences, without its body.
    func readHeaders(
        _ patterns: [String], from first: UInt64, through last: UInt64, epoch: UInt64,
        _ body: (DeliveredMessage) async throws -> BatchReader.Step
    ) async throws {
        guard first <= last, !patterns.isEmpty else { return }
        let reader = BatchReader(
            self, patterns: patterns, after: Place.end(of: max(first, 1) - 1), until: Place.end(of: last), epoch: epoch,
            headersOnly: true)
        try await reader.read(body)
    }

    /// Calls `body` with the sequence and the number of the messages of each batch in a range of sequences, until it
    /// returns false.
    func countBatches(
        _ patterns: [String], from first: UInt64, through last: UInt64, epoch: UInt64,
        _ body: (_ sequence: UInt64, _ count: UInt64) -> Bool
    ) async throws {
        try await readHeaders(patterns, from: first, through: last, epoch: epoch) { message in
            let count = message.message.header(BatchHeaders.Name.batch.rawValue).flatMap { UInt64($0) } ?? 0
            return body(UInt64(clamping: message.streamSequence), min(count, Place.slotCount)) ? .goOn : .stop
        }
    }

    /// The newest message of each type up to the steward's mark. Empty without a steward.
    func typeTable() async throws -> TypeTable {
        try await read(TypeTable.self, .typeTable, of: names.documents).value ?? TypeTable()
    }

    /// The offset of the newest message of each type that a filter selects.
    func newest(
        matching filters: [MessageFilter], epoch: UInt64, skipped: SkippedMessages
    ) async throws -> [MessageType: UInt64] {
        let filters = filters.map { $0.with(subject: nil) }
        // The mark comes first: the table may be newer, but not older.
        let markRecord = try await read(MarkRecord.self, .documentMark, of: names.documents).value
        let mark = markRecord.flatMap { $0.epoch == epoch ? $0 : nil }
        var newest: [MessageType: UInt64] = [:]
        if mark != nil { newest = try await typeTable().newest(matching: filters) }
        try await scan(
            filters, from: (mark?.sequence ?? 0) + 1, through: try await lastBatch(), epoch: epoch, skipped: skipped
        ) { stored in
            guard let type = Topic(stored.message.topic)?.type,
                filters.contains(where: { $0.matches(type, subject: "") })
            else { return true }
            newest[type] = max(newest[type] ?? 0, stored.position.offset)
            return true
        }
        return newest
    }

    /// The number of messages after an offset whose type a filter selects, at most ``Limits/lag``.
    func lag(
        after offset: UInt64, matching filters: [MessageFilter], epoch: UInt64, skipped: SkippedMessages
    ) async throws -> UInt64 {
        let filters = filters.map { $0.with(subject: nil) }
        let last = try await lastBatch()
        var count: UInt64 = 0
        // In most batches all messages have one type, so that the headers of the batch are sufficient. The bodies of
        // the others are read.
        let patterns = SubjectFilters(filters).texts(in: names.namespace)
        let takesAll = filters.contains { $0.kind == nil }
        let mixed = takesAll ? [] : patterns.filter { $0.ends(with: ".+.*.*") }
        try await countBatches(
            patterns.filter { !mixed.contains($0) }, from: Place.start(after: offset), through: last, epoch: epoch
        ) { sequence, size in
            count += min(size, Place.end(of: sequence) - min(offset, Place.end(of: sequence)))
            return count < Limits.lag
        }
        guard count < Limits.lag, !mixed.isEmpty else { return min(count, Limits.lag) }
        let first = Place.start(after: offset)
        guard first <= last else { return count }
        let reader = BatchReader(
            self, patterns: mixed, after: Place.end(of: first - 1), until: Place.end(of: last), epoch: epoch)
        try await reader.read { message in
            let batch = JournalBatch(message: message, epoch: epoch, start: offset, end: .max)
            do {
                for stored in try batch.messages() {
                    guard let type = Topic(stored.message.topic)?.type,
                        filters.contains(where: { $0.matches(type, subject: "") })
                    else { continue }
                    count += 1
                }
            } catch {
                skipped.note("message \(batch.sequence) on '\(message.subject)' is not a batch: \(error)")
            }
            return count < Limits.lag ? .goOn : .stop
        }
        return min(count, Limits.lag)
    }

    /// The offset that is about `distance` messages after an offset, or before it.
    func offset(_ offset: UInt64, by distance: Int, epoch: UInt64) async throws -> UInt64 {
        let far = Place.offset(offset, by: distance)
        // Far away, or beyond the end, each sequence counts as one message.
        guard distance != 0, distance.magnitude <= Place.slotCount * 2 else { return far }
        var counts: [(sequence: UInt64, count: UInt64)] = []
        var sum: UInt64 = 0
        if distance > 0 {
            let first = Place.start(after: offset)
            try await countBatches(
                [names.batches], from: first, through: min(Place(offset: far).sequence, try await lastBatch()),
                epoch: epoch
            ) { sequence, count in
                sum += count
                counts.append((sequence, count))
                return sum < UInt64(distance)
            }
            // Fewer messages than wanted: the rest of the way has none, or is beyond the end.
            guard sum >= UInt64(distance), let last = counts.last else { return far }
            return Place.end(of: last.sequence)
        }
        let first = Place(offset: far).sequence + 1
        try await countBatches([names.batches], from: first, through: Place(offset: offset).sequence, epoch: epoch) {
            counts.append(($0, $1))
            return true
        }
        for batch in counts.reversed() {
            sum += batch.count
            if sum >= distance.magnitude { return Place.end(of: batch.sequence - 1) }
        }
        return far
    }
}
