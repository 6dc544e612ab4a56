internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// Bytes of the file that are used, beside what retention never removes: that would drive everything else out. What is
    /// removed is used again, but the file does not shrink.
    /// - Parameter limit: well below it what is kept is not looked for.
    func usedSize(limit: Int, at time: Int64) throws -> Int {
        let used = try read { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            return (pages - free) * (try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
        }
        return used < limit / 10 * 7 ? used : max(0, used - (try keptSize(at: time)))
    }

    private func keptSize(at time: Int64) throws -> Int {
        if let kept, (0..<KeptSize.validity).contains(time - kept.time) { return kept.bytes }
        let bytes = try read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT ifnull((SELECT sum(length(header) + length(data)) FROM letters), 0)
                        + ifnull((SELECT sum(length(header) + length(data)) FROM documents JOIN messages USING (offset)), 0)
                    """) ?? 0
        }
        kept = KeptSize(bytes: bytes, time: time)
        return bytes
    }

    /// Removes the oldest messages that the policy does not keep.
    /// - Parameter count: offsets to look at, so that nothing waits long.
    /// - Returns: whether there is more to remove, and who lost something that it had yet to handle.
    func prune(_ policy: RetentionPolicy, count: Int, at time: Int64) throws -> (hasMore: Bool, cutOff: [String]) {
        try requireLoaded()
        let excess = try policy.size.map { try usedSize(limit: $0, at: time) - $0 } ?? 0
        var limit = excess > 0 ? try offset(freeing: excess, count: count) : pruned
        if let age = policy.age {
            let handled = consumers.values.map(\.group.position).min() ?? head
            limit = max(limit, min(try locate(UInt64(clamping: time - Int64(age / .milliseconds(1)))), handled))
        }
        let end = min(limit, pruned + UInt64(count))
        guard end > pruned else { return (false, []) }
        var cutOff: [String] = []
        try transaction(at: time) { database in
            isSaveDue = true
            cutOff = try cutConsumersOff(through: end, database)
            try database.cachedStatement(
                sql: """
                    DELETE FROM messages WHERE offset > ? AND offset <= ?
                        AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
                    """
            ).execute(arguments: [Int64(pruned), Int64(end)])
            try database.execute(sql: "UPDATE journal SET value = ? WHERE key = 'pruned'", arguments: [Int64(end)])
            pruned = end
        }
        // A size is measured again: messages fill pages, and only whole pages are free.
        return (end < limit || excess > 0, cutOff)
    }

    /// Where the oldest messages end that make up for so many bytes: messages of all sizes stand beside each other.
    private func offset(freeing size: Int, count: Int) throws -> UInt64 {
        try read { database in
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT offset, length(header) + length(data) FROM messages
                        WHERE offset > ? ORDER BY offset LIMIT ?
                        """),
                arguments: [Int64(pruned), count])
            var (end, freed) = (pruned, 0)
            while freed < size, let row = try rows.next() {
                end = Self.number(row, 0)
                freed += row[1]
            }
            return end
        }
    }

    /// Records for every consumer what it loses. Only inside ``transaction(at:_:)``.
    private func cutConsumersOff(through end: UInt64, _ database: Database) throws -> [String] {
        let behind = consumers.filter { $0.value.group.position < end }
        guard !behind.isEmpty else { return [] }
        let lost = try losses(through: end, database)
        var cutOff: [String] = []
        for (name, known) in behind {
            var consumer = known
            for loss in lost {
                let handled = known.group.handled(loss.topic.partition)
                guard handled < loss.offsets.upperBound,
                    let type = MessageType(String(decoding: loss.topic.type, as: UTF8.self)),
                    let own = try handled < loss.offsets.lowerBound
                        ? loss : losses(of: loss.topic, from: handled, through: end, database)
                else { continue }
                consumer.add(CutOff(type: type, count: own.count, offsets: own.offsets))
            }
            guard consumer.cutOffs.map(\.cutOff) != known.cutOffs.map(\.cutOff) else { continue }
            cutOff.append(name)
            try save(consumer, as: name, database)
        }
        return cutOff
    }

    private struct Loss {
        let topic: TopicEntry
        let count: Int
        let offsets: ClosedRange<UInt64>
    }

    private func losses(through end: UInt64, _ database: Database) throws -> [Loss] {
        let rows = try Row.fetchAll(
            database, sql: Self.lossesSQL + " GROUP BY topic", arguments: [Int64(pruned), Int64(end)])
        return rows.compactMap(loss)
    }

    private func losses(
        of topic: TopicEntry, from start: UInt64, through end: UInt64, _ database: Database
    ) throws -> Loss? {
        try Row.fetchOne(
            database, sql: Self.lossesSQL + " AND topic = ? GROUP BY topic",
            arguments: [Int64(max(start, pruned)), Int64(end), topic.id]
        ).flatMap(loss)
    }

    private func loss(_ row: Row) -> Loss? {
        guard let index = topics.index(ofID: row[0]) else { return nil }
        return Loss(topic: topics[index], count: row[1], offsets: Self.number(row, 2)...Self.number(row, 3))
    }

    private static let lossesSQL = """
        SELECT topic, count(*), min(offset), max(offset) FROM messages WHERE offset > ? AND offset <= ?
            AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.offset = messages.offset)
        """
}

/// Bytes of retained documents and dead letters, as they were at a time.
struct KeptSize {
    /// For so many milliseconds it is good enough: to measure it is to look at all of them.
    static let validity: Int64 = 10_000

    let bytes: Int
    /// Milliseconds since 1970.
    let time: Int64
}
