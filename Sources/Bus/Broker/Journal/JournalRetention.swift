internal import BusProtocol
internal import EventBus
internal import GRDB

/// How far retention has gone, what there is to remove, and who loses something by it.
struct JournalRetention {
    /// Up to here only retained documents are left; the key `pruned`.
    private(set) var pruned: UInt64 = 0
    /// Bytes of retained documents and dead letters, which retention never removes, and when they were measured.
    private var kept: (bytes: Int, time: Int64)?

    /// For so many milliseconds ``kept`` is good enough: to measure it is to look at all of them.
    private static let validity: Int64 = 10_000

    init(pruned: UInt64 = 0) {
        self.pruned = pruned
    }

    /// Bytes of the file that are used, beside what retention never removes: that would drive everything else out. What is
    /// removed is used again, but the file does not shrink.
    /// - Parameter limit: well below it what is kept is not looked for.
    mutating func usedSize(limit: Int, at time: Int64, _ database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        let used = (pages - free) * (try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
        return used < limit / 10 * 7 ? used : max(0, used - (try keptSize(at: time, database)))
    }

    private mutating func keptSize(at time: Int64, _ database: Database) throws -> Int {
        if let kept, (0..<Self.validity).contains(time - kept.time) { return kept.bytes }
        let bytes =
            try Int.fetchOne(
                database,
                sql: """
                    SELECT ifnull((SELECT sum(length(header) + length(data)) FROM letters), 0)
                        + ifnull((SELECT sum(length(header) + length(data)) FROM documents JOIN messages USING (offset)), 0)
                    """) ?? 0
        kept = (bytes, time)
        return bytes
    }

    /// Where the oldest messages end that make up for so many bytes: messages of all sizes stand beside each other.
    /// - Parameter count: rows to look at.
    func offset(freeing size: Int, count: Int, _ database: Database) throws -> UInt64 {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT offset, length(header) + length(data) FROM messages
                    WHERE offset > ? ORDER BY offset LIMIT ?
                    """),
            arguments: [Int64(pruned), count])
        var (end, freed) = (pruned, 0)
        while freed < size, let row = try rows.next() {
            end = row.number(0)
            freed += row[1]
        }
        return end
    }

    /// The consumers that lose something when everything up to an offset goes, each with what it loses.
    func cutOff(
        _ consumers: ConsumerTable, through end: UInt64, _ topics: TopicTable, _ database: Database
    ) throws -> [String: Consumer] {
        let behind = consumers.rows.filter { $0.value.group.position < end }
        guard !behind.isEmpty else { return [:] }
        let lost = try losses(through: end, topics, database)
        var cutOff: [String: Consumer] = [:]
        for (name, known) in behind {
            var consumer = known
            for loss in lost {
                let handled = known.group.handled(loss.topic.partition)
                guard handled < loss.offsets.upperBound,
                    let type = MessageType(String(decoding: loss.topic.type, as: UTF8.self)),
                    let own = try handled < loss.offsets.lowerBound
                        ? loss : losses(of: loss.topic, from: handled, through: end, topics, database)
                else { continue }
                consumer.add(CutOff(type: type, count: own.count, offsets: own.offsets))
            }
            guard consumer.cutOffs.map(\.cutOff) != known.cutOffs.map(\.cutOff) else { continue }
            cutOff[name] = consumer
        }
        return cutOff
    }

    /// Removes everything up to an offset but retained documents.
    mutating func prune(through end: UInt64, in transaction: borrowing Journal.Transaction) throws {
        try transaction.database.cachedStatement(
            sql: """
                DELETE FROM messages WHERE offset > ? AND offset <= ?
                    AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
                """
        ).execute(arguments: [Int64(pruned), Int64(end)])
        try transaction.database.execute(
            sql: "UPDATE journal SET value = ? WHERE key = 'pruned'", arguments: [Int64(end)])
        pruned = end
    }

    private struct Loss {
        let topic: TopicEntry
        let count: Int
        let offsets: ClosedRange<UInt64>

        init?(_ row: Row, _ topics: TopicTable) {
            guard let index = topics.index(ofID: row[0]) else { return nil }
            topic = topics[index]
            count = row[1]
            offsets = row.number(2)...row.number(3)
        }
    }

    private func losses(through end: UInt64, _ topics: TopicTable, _ database: Database) throws -> [Loss] {
        let rows = try Row.fetchAll(
            database, sql: Self.lossesSQL + " GROUP BY topic", arguments: [Int64(pruned), Int64(end)])
        return rows.compactMap { Loss($0, topics) }
    }

    private func losses(
        of topic: TopicEntry, from start: UInt64, through end: UInt64, _ topics: TopicTable, _ database: Database
    ) throws -> Loss? {
        try Row.fetchOne(
            database, sql: Self.lossesSQL + " AND topic = ? GROUP BY topic",
            arguments: [Int64(max(start, pruned)), Int64(end), topic.id]
        ).flatMap { Loss($0, topics) }
    }

    private static let lossesSQL = """
        SELECT topic, count(*), min(offset), max(offset) FROM messages WHERE offset > ? AND offset <= ?
            AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
        """
}
