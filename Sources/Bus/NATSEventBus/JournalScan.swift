internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// Reading a known part of the journal.
extension JournalConnection {
    /// Calls `body` for each message of a range of sequences whose batch can have a message that a filter selects,
    /// until it returns false. Damaged batches are left out.
    func scan(
        _ filters: [MessageFilter], from first: UInt64, through last: UInt64, epoch: UInt64,
        skipped: SkippedMessages, _ body: (BatchMessage.Stored) throws -> Bool
    ) async throws {
        guard first <= last, !filters.isEmpty else { return }
        let patterns = SubjectFilters(filters).texts(in: names.namespace)
        // Usually there is nothing after the steward's watermark. Then no consumer is needed.
        guard try await retrying({ try await hasBatches(matching: patterns, from: first, through: last) }) else {
            return
        }
        try await readMessages(
            patterns, after: StreamPosition.end(of: first - 1), through: last, epoch: epoch, skipped: skipped, body)
    }

    /// Calls `body` for each message after an offset, up to a sequence, in batches with one of these subjects, until it
    /// returns false.
    private func readMessages(
        _ patterns: [String], after offset: UInt64, through last: UInt64, epoch: UInt64, skipped: SkippedMessages,
        _ body: (BatchMessage.Stored) throws -> Bool
    ) async throws {
        let reader = BatchReader(
            self, patterns: patterns, after: offset, until: StreamPosition.end(of: last), epoch: epoch)
        try await reader.read { message in
            let batch = JournalBatch(message: message, epoch: epoch, start: offset, end: .max)
            do {
                for stored in try batch.messages() where try !body(stored) { return .stop }
            } catch let error as ProtocolError {
                skipped.record("message \(batch.sequence) on '\(message.subject)' is not a batch: \(error)")
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
            self, patterns: patterns, after: StreamPosition.end(of: max(first, 1) - 1),
            until: StreamPosition.end(of: last), epoch: epoch,
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
            return body(UInt64(clamping: message.streamSequence), min(count, StreamPosition.slotCount)) ? .goOn : .stop
        }
    }

    /// The newest message of each type up to the steward's watermark. Empty without a steward.
    func typeTable() async throws -> TypeTable {
        try await read(TypeTable.self, .typeTable, of: names.documents).value ?? TypeTable()
    }

    /// The offset of the newest message of each type that a filter selects.
    func newest(
        matching filters: [MessageFilter], epoch: UInt64, skipped: SkippedMessages
    ) async throws -> [MessageType: UInt64] {
        let filters = filters.map { $0.with(subject: nil) }
        // The watermark comes first: the table may be newer, but not older.
        let watermarkRecord = try await read(WatermarkRecord.self, .documentWatermark, of: names.documents).value
        let watermark = watermarkRecord.flatMap { $0.epoch == epoch ? $0 : nil }
        var newest: [MessageType: UInt64] = [:]
        if watermark != nil { newest = try await typeTable().newest(matching: filters) }
        try await scan(
            filters, from: (watermark?.sequence ?? 0) + 1, through: try await lastBatch(), epoch: epoch,
            skipped: skipped
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
        let includesAll = filters.contains { $0.kind == nil }
        let mixed = includesAll ? [] : patterns.filter { $0.ends(with: ".+.*.*") }
        try await countBatches(
            patterns.filter { !mixed.contains($0) }, from: StreamPosition.start(after: offset), through: last,
            epoch: epoch
        ) { sequence, size in
            count += min(size, StreamPosition.end(of: sequence) - min(offset, StreamPosition.end(of: sequence)))
            return count < Limits.lag
        }
        guard count < Limits.lag, !mixed.isEmpty else { return min(count, Limits.lag) }
        guard StreamPosition.start(after: offset) <= last else { return count }
        try await readMessages(mixed, after: offset, through: last, epoch: epoch, skipped: skipped) { stored in
            if let type = Topic(stored.message.topic)?.type, filters.contains(where: { $0.matches(type, subject: "") })
            {
                count += 1
            }
            return count < Limits.lag
        }
        return min(count, Limits.lag)
    }

    /// The offset that is about `distance` messages after an offset, or before it.
    func offset(_ offset: UInt64, by distance: Int, epoch: UInt64) async throws -> UInt64 {
        let far = StreamPosition.offset(offset, by: distance)
        // Far away, or beyond the end, each sequence counts as one message.
        guard distance != 0, distance.magnitude <= StreamPosition.slotCount * 2 else { return far }
        var counts: [(sequence: UInt64, count: UInt64)] = []
        var sum: UInt64 = 0
        if distance > 0 {
            let first = StreamPosition.start(after: offset)
            try await countBatches(
                [names.batches], from: first, through: min(StreamPosition(offset: far).sequence, try await lastBatch()),
                epoch: epoch
            ) { sequence, count in
                sum += count
                counts.append((sequence, count))
                return sum < UInt64(distance)
            }
            // Fewer messages than wanted: the rest of the way has none, or is beyond the end.
            guard sum >= UInt64(distance), let last = counts.last else { return far }
            return StreamPosition.end(of: last.sequence)
        }
        let first = StreamPosition(offset: far).sequence + 1
        try await countBatches(
            [names.batches], from: first, through: StreamPosition(offset: offset).sequence, epoch: epoch
        ) {
            counts.append(($0, $1))
            return true
        }
        for batch in counts.reversed() {
            sum += batch.count
            if sum >= distance.magnitude { return StreamPosition.end(of: batch.sequence - 1) }
        }
        return far
    }
}

/// Asking what the journal has.
extension JournalConnection {
    private static let lag = NATSError(.timeout, "a server has not received the last messages of the journal yet")

    /// True if there is a message with one of these subjects in a range of sequences, or after it.
    ///
    /// A server that lags behind cannot hide a message, nor can a leader that was replaced while it was stopped and
    /// answers once more: an answer without a message counts only if it contains the journal's newest message, which
    /// was asked for before.
    /// - Throws: ``NATSError`` `timeout` if the answering server does not have the end of the range.
    func hasBatches(matching patterns: [String], from first: UInt64, through last: UInt64) async throws -> Bool {
        guard first <= last else { return false }
        let newest = try await jetStream.lastMessage(of: names.journal, subject: names.everything)
        guard let newest, newest.sequence >= Int(clamping: last) else { throw Self.lag }
        if patterns.contains(where: { newest.subject.matches(pattern: $0) }) { return true }
        do {
            let found = try await jetStream.lastMessages(
                of: names.journal, filters: patterns + [newest.subject], from: Int(clamping: first), batch: 2)
            if found.messages.contains(where: { $0.subject != newest.subject }) { return true }
            guard found.messages.contains(where: { $0.sequence >= newest.sequence }) else { throw Self.lag }
            return false
        } catch let error as JetStreamError where error.status == 413 {
            // Too many subjects match for one answer. Then the leader answers, twice: one that was replaced while it
            // was stopped may answer once more.
            for _ in 0..<2 {
                if try await leaderHasBatches(matching: patterns, from: first) { return true }
                guard try await lastSequence() >= last else { throw Self.lag }
            }
            return false
        }
    }

    private func leaderHasBatches(matching patterns: [String], from first: UInt64) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for pattern in patterns {
                group.addTask {
                    try await self.jetStream.nextMessage(
                        of: self.names.journal, subject: pattern, from: Int(clamping: first)) != nil
                }
            }
            defer { group.cancelAll() }
            while let isThere = try await group.next() {
                if isThere { return true }
            }
            return false
        }
    }
}
