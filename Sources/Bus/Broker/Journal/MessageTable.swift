internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The table of the journal's messages, by offset.
struct MessageTable {
    /// The columns of a message, after its offset, that ``PageBuilder`` reads.
    static let columns = "messages.topic, previous, header, data, checksum"

    /// Selects the offset of the preceding message on a message's topic.
    static let linkSQL = "SELECT previous FROM messages WHERE offset = ?"

    /// Selects the messages after an offset.
    let scan: RawStatement
    private let insert: RawStatement
    private let link: RawStatement

    init(_ database: Database) throws {
        scan = try RawStatement(
            "SELECT offset, \(Self.columns) FROM messages WHERE offset > ? ORDER BY offset", database)
        link = try RawStatement(Self.linkSQL, database)
        // A row after the end of the journal is a damaged one, with a wrong offset.
        insert = try RawStatement("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", database)
    }

    /// Sets the producer and sequence for the messages that are inserted next. Only the last message of a batch has
    /// them; the others, and messages of the broker, have nil.
    /// - Parameter producer: The bytes must remain valid until the messages are inserted.
    func setBatch(_ producer: UnsafeRawBufferPointer?, sequence: UInt64 = 0) {
        guard let producer else {
            insert.bindNull(at: 8)
            insert.bindNull(at: 9)
            return
        }
        insert.bind(blob: producer, at: 8)
        insert.bind(Int64(clamping: sequence), at: 9)
    }

    /// - Returns: The checksum of the row.
    func insert(
        offset: UInt64, topic: TopicEntry, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer,
        in transaction: borrowing Journal.Transaction
    ) throws -> Int64 {
        insert.bind(Int64(offset), at: 1)
        insert.bind(topic.id, at: 2)
        insert.bind(Int64(topic.head), at: 3)
        insert.bind(transaction.time, at: 4)
        insert.bind(blob: header, at: 5)
        insert.bind(blob: data, at: 6)
        let checksum = Checksum.of(
            topic: topic.hash, offset: offset, previous: topic.head, header: header, data: data)
        insert.bind(checksum, at: 7)
        try insert.run()
        return checksum
    }

    /// Counts messages, by following each topic from its last message to the previous one. There is no index by topic,
    /// so this takes one look-up for each counted message, however many others are in between: 2 to 3 µs each, and so
    /// about as long for 10,000 messages as three pages of the journal with ``Limits/scanCount`` rows.
    /// - Parameters:
    ///   - heads: The offsets of the last messages of the topics.
    ///   - offset: Only messages after this offset count.
    ///   - limit: The number at which counting stops.
    func count(from heads: [UInt64], after offset: UInt64, limit: UInt64) throws -> UInt64 {
        var count: UInt64 = 0
        for head in heads {
            var next = head
            while next > offset, count < limit, let previous = try self.previous(of: next) {
                count += 1
                // In a damaged row the offset can be any number. A chain that does not go back would never end.
                guard previous < next else { break }
                next = previous
            }
        }
        return count
    }

    /// The offset of the preceding message of a message's topic; nil if there is no message at the offset.
    private func previous(of offset: UInt64) throws -> UInt64? {
        defer { link.reset() }
        link.bind(Int64(clamping: offset), at: 1)
        return try link.step() ? UInt64(clamping: link.integer(0)) : nil
    }

    /// The checksum of a message; nil if there is no message at the offset, or it is damaged.
    func checksum(at offset: UInt64, _ topics: TopicTable, _ database: Database) throws -> Int64? {
        let statement = try database.cachedStatement(sql: "SELECT \(Self.columns) FROM messages WHERE offset = ?")
        let row = try Row.fetchOne(statement, arguments: [Int64(clamping: offset)])
        return row.flatMap { Self.intact($0, at: offset, topics)?.checksum }
    }

    /// Compares a row with its checksum.
    /// - Parameter row: A row that begins with ``columns``.
    /// - Returns: The index of the row's topic, and the checksum. Nil if the row is damaged.
    static func intact(_ row: Row, at offset: UInt64, _ topics: TopicTable) -> (topic: Int, checksum: Int64)? {
        guard let id = try? row.value(0, as: Int64.self), let topic = topics.index(ofID: id),
            let previous = try? row.value(1, as: Int64.self), let header = try? row.value(2, as: Data.self),
            let data = try? row.value(3, as: Data.self), let stored = try? row.value(4, as: Int64.self)
        else { return nil }
        let checksum = header.withUnsafeBytes { header in
            data.withUnsafeBytes { data in
                Checksum.of(
                    topic: topics[topic].hash, offset: offset, previous: UInt64(clamping: previous), header: header,
                    data: data)
            }
        }
        return checksum == stored ? (topic, checksum) : nil
    }

    /// The time of the last message, in milliseconds since 1970; 0 if there is none.
    func lastTime(_ database: Database) throws -> Int64 {
        try Row.fetchOne(database, sql: "SELECT time FROM messages ORDER BY offset DESC LIMIT 1")?.number(0) ?? 0
    }

    /// The offset of the last message that was recorded before a time; 0 if there is none. The times of messages must
    /// not decrease with the offset.
    /// - Parameter time: Milliseconds since 1970.
    func locate(_ time: UInt64, head: UInt64, _ database: Database) throws -> UInt64 {
        let statement = try database.cachedStatement(
            sql: "SELECT offset, time FROM messages WHERE offset >= ? ORDER BY offset LIMIT 1")
        var (before, behind) = (UInt64(0), head + 1)
        while behind - before > 1 {
            let middle = before + (behind - before) / 2
            let row = try Row.fetchOne(statement, arguments: [Int64(middle)])
            // A row after the end of the journal does not belong to it.
            if let row, case let offset:UInt64 = try row.number(0), offset < behind, try row.number(1) < time {
                before = offset
            } else {
                behind = middle
            }
        }
        return before
    }
}
