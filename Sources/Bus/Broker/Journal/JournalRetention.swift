internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import GRDB

/// Removes old messages from the journal, and determines the consumers that lose unhandled messages.
struct JournalRetention {
    /// The offset up to which everything except retained documents is removed. Saved as the key `pruned`.
    private(set) var pruned: UInt64 = 0
    /// The bytes of retained documents and dead letters, which retention never removes, and the time of the measurement
    /// in milliseconds since 1970. Nil before the first measurement.
    private var kept: (bytes: Int, time: Int64)?

    /// The time for which ``kept`` is used, in milliseconds. A measurement reads all documents and dead letters.
    private static let validity: Int64 = 10_000

    init(pruned: UInt64 = 0) {
        self.pruned = pruned
    }

    /// Returns the number of bytes of the file that are in use, without the retained documents and dead letters.
    /// - Parameter limit: The size limit. Below 70 % of it, documents and dead letters are included.
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

    /// Returns the offset up to which the oldest messages have at least `size` bytes together.
    /// - Parameter count: The maximum number of rows to examine. If their sizes do not reach `size`, the offset of the
    ///   last one is returned.
    func offset(freeing size: Int, count: Int, _ database: Database) throws -> UInt64 {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT offset, length(header) + length(data) AS size FROM messages
                    WHERE offset > :pruned ORDER BY offset LIMIT :count
                    """),
            arguments: ["pruned": Int64(pruned), "count": count])
        var (end, freed) = (pruned, 0)
        while freed < size, let row = try rows.next() {
            end = try row.number("offset")
            freed += try row.number("size")
        }
        return end
    }

    /// Returns the consumers that lose unhandled messages if all messages up to an offset are removed. The values
    /// contain the losses.
    func cutOff(
        _ consumers: ConsumerTable, through end: UInt64, topics: TopicTable, in database: Database
    ) throws -> [String: Consumer] {
        let behind = consumers.rows.filter { $0.value.group.position < end }
        guard !behind.isEmpty else { return [:] }
        let lost = try losses(through: end, topics: topics, in: database)
        var cutOff: [String: Consumer] = [:]
        for (name, known) in behind {
            var consumer = known
            for loss in lost {
                let handled = known.group.handled(loss.topic.partition)
                guard handled < loss.offsets.upperBound,
                    let own = try handled < loss.offsets.lowerBound
                        ? loss : losses(of: loss.topic, from: handled, through: end, topics: topics, in: database)
                else { continue }
                consumer.cutOffs.add([CutOff(type: loss.topic.type, count: own.count, offsets: own.offsets)])
            }
            guard consumer.cutOffs != known.cutOffs else { continue }
            cutOff[name] = consumer
        }
        return cutOff
    }

    /// Removes everything up to an offset, except retained documents.
    mutating func prune(through end: UInt64, in transaction: borrowing Journal.Transaction) throws {
        try transaction.database.cachedStatement(
            sql: """
                DELETE FROM messages WHERE offset > :pruned AND offset <= :end
                    AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
                """
        ).execute(arguments: ["pruned": Int64(pruned), "end": Int64(end)])
        try transaction.database.execute(
            sql: "UPDATE journal SET value = :end WHERE key = 'pruned'", arguments: ["end": Int64(end)])
        pruned = end
    }

    private struct Loss {
        let topic: TopicEntry
        let count: Int
        let offsets: ClosedRange<UInt64>

        init?(_ row: Row, _ topics: TopicTable) throws {
            let (first, last): (UInt64, UInt64) = (try row.number("first"), try row.number("last"))
            guard let index = topics.index(ofID: try row.value("topic")), first <= last else { return nil }
            topic = topics[index]
            count = try row.number("count")
            offsets = first...last
        }
    }

    private func losses(through end: UInt64, topics: TopicTable, in database: Database) throws -> [Loss] {
        let rows = try Row.fetchAll(
            database, sql: Self.lossesSQL + " GROUP BY topic",
            arguments: ["start": Int64(pruned), "end": Int64(end)])
        return try rows.compactMap { try Loss($0, topics) }
    }

    private func losses(
        of topic: TopicEntry, from start: UInt64, through end: UInt64, topics: TopicTable, in database: Database
    ) throws -> Loss? {
        try Row.fetchOne(
            database, sql: Self.lossesSQL + " AND topic = :topic GROUP BY topic",
            arguments: ["start": Int64(max(start, pruned)), "end": Int64(end), "topic": topic.id]
        ).flatMap { try Loss($0, topics) }
    }

    private static let lossesSQL = """
        SELECT topic, count(*) AS count, min(offset) AS first, max(offset) AS last FROM messages
        WHERE offset > :start AND offset <= :end
            AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
        """
}
