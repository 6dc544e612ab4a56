internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The table of the journal's messages, by offset.
struct MessageTable {
    /// The columns of a message, after its offset, that ``PageBuilder`` reads.
    static let columns = "messages.topic, previous, header, data, checksum, messages.session, messages.publisher"

    /// The offset of a message, then the columns of ``columns``.
    enum Column: Int32 {
        case offset, topic, previous, header, data, checksum, session, publisher
    }

    /// The parameters of the statements that select rows for ``PageBuilder``.
    enum ScanParameter: Int32, StatementParameter {
        /// The offset after which rows are selected.
        case after = 1
        case type, subject
    }

    /// The parameters of the statements for one message.
    enum Parameter: Int32, StatementParameter {
        case offset = 1
        case topic, previous, time, header, data, checksum, producer, sequence, session, publisher
    }

    /// Selects the offset of the preceding message on a message's topic.
    static let linkSQL = "SELECT previous FROM messages WHERE offset = :offset"

    /// Selects the messages after an offset.
    let scan: RawStatement<ScanParameter>
    private let insert: RawStatement<Parameter>
    private let link: RawStatement<Parameter>

    init(_ database: Database) throws {
        scan = try RawStatement(
            "SELECT offset, \(Self.columns) FROM messages WHERE offset > :after ORDER BY offset", database)
        link = try RawStatement(Self.linkSQL, database)
        // A row after the end of the journal is a damaged one, with a wrong offset.
        insert = try RawStatement(
            """
            INSERT OR REPLACE INTO messages
            VALUES (:offset, :topic, :previous, :time, :header, :data, :checksum, :producer, :sequence, :session,
                :publisher)
            """, database)
    }

    /// Sets the producer and sequence for the messages that are inserted next. Only the last message of a batch has
    /// them; the others, and messages of the broker, have nil.
    /// - Parameter producer: The bytes must remain valid until the messages are inserted.
    func setBatch(_ producer: UnsafeRawBufferPointer?, sequence: UInt64 = 0) {
        guard let producer else {
            insert.bindNull(to: .producer)
            insert.bindNull(to: .sequence)
            return
        }
        insert.bind(blob: producer, to: .producer)
        insert.bind(Int64(clamping: sequence), to: .sequence)
    }

    /// - Parameter publisher: Nil on a bus without keys. The row then has neither session nor publisher.
    /// - Returns: The checksum of the row.
    func insert(
        offset: UInt64, topic: TopicEntry, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer,
        session: UnsafeRawBufferPointer, publisher: String?, in transaction: borrowing Journal.Transaction
    ) throws -> Int64 {
        guard var publisher else {
            return try insert(offset, topic, header, data, RowOrigin(), at: transaction.time)
        }
        defer {
            insert.bindNull(to: .session)
            insert.bindNull(to: .publisher)
        }
        return try publisher.withUTF8 { publisher in
            let origin = RowOrigin(session: session, publisher: UnsafeRawBufferPointer(publisher))
            insert.bind(text: origin.session, to: .session)
            insert.bind(text: origin.publisher, to: .publisher)
            return try insert(offset, topic, header, data, origin, at: transaction.time)
        }
    }

    private func insert(
        _ offset: UInt64, _ topic: TopicEntry, _ header: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer,
        _ origin: RowOrigin, at time: Int64
    ) throws -> Int64 {
        insert.bind(Int64(offset), to: .offset)
        insert.bind(topic.id, to: .topic)
        insert.bind(Int64(topic.head), to: .previous)
        insert.bind(time, to: .time)
        insert.bind(blob: header, to: .header)
        insert.bind(blob: data, to: .data)
        let checksum = Checksum.of(
            topic: topic.hash, offset: offset, previous: topic.head, header: header, data: data, origin: origin)
        insert.bind(checksum, to: .checksum)
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
        link.bind(Int64(clamping: offset), to: .offset)
        return try link.step().map { UInt64(clamping: $0.first) }
    }

    /// The checksum of a message; nil if there is no message at the offset, or it is damaged.
    func checksum(at offset: UInt64, _ topics: TopicTable, _ database: Database) throws -> Int64? {
        let statement = try database.cachedStatement(sql: "SELECT \(Self.columns) FROM messages WHERE offset = :offset")
        let row = try Row.fetchOne(statement, arguments: ["offset": Int64(clamping: offset)])
        return row.flatMap { Self.intact($0, at: offset, topics)?.checksum }
    }

    /// Compares a row with its checksum.
    /// - Parameter row: A row with ``columns``.
    /// - Returns: The index of the row's topic, and the checksum. Nil if the row is damaged.
    static func intact(_ row: Row, at offset: UInt64, _ topics: TopicTable) -> (topic: Int, checksum: Int64)? {
        guard let id = try? row.value("topic", as: Int64.self), let topic = topics.index(ofID: id),
            let previous = try? row.value("previous", as: Int64.self),
            let header = try? row.value("header", as: Data.self),
            let data = try? row.value("data", as: Data.self),
            let stored = try? row.value("checksum", as: Int64.self),
            let session = try? row.value("session", as: String?.self) ?? "",
            let publisher = try? row.value("publisher", as: String?.self) ?? ""
        else { return nil }
        let checksum = header.withUnsafeBytes { header in
            data.withUnsafeBytes { data in
                RowOrigin.with(session, publisher) { origin in
                    Checksum.of(
                        topic: topics[topic].hash, offset: offset, previous: UInt64(clamping: previous),
                        header: header, data: data, origin: origin)
                }
            }
        }
        return checksum == stored ? (topic, checksum) : nil
    }

    /// The time of the last message, in milliseconds since 1970; 0 if there is none.
    func lastTime(_ database: Database) throws -> Int64 {
        try Row.fetchOne(database, sql: "SELECT time FROM messages ORDER BY offset DESC LIMIT 1")?.number("time") ?? 0
    }

    /// The offset of the last message that was recorded before a time; 0 if there is none. The times of messages must
    /// not decrease with the offset.
    /// - Parameter time: Milliseconds since 1970.
    func locate(_ time: UInt64, head: UInt64, _ database: Database) throws -> UInt64 {
        let statement = try database.cachedStatement(
            sql: "SELECT offset, time FROM messages WHERE offset >= :offset ORDER BY offset LIMIT 1")
        var (before, behind) = (UInt64(0), head + 1)
        while behind - before > 1 {
            let middle = before + (behind - before) / 2
            let row = try Row.fetchOne(statement, arguments: ["offset": Int64(middle)])
            // A row after the end of the journal does not belong to it.
            if let row, case let offset:UInt64 = try row.number("offset"), offset < behind,
                try row.number("time") < time
            {
                before = offset
            } else {
                behind = middle
            }
        }
        return before
    }
}

/// The verified origin of a row, as it is stored. Both parts are empty in a row that was recorded on a bus without keys.
struct RowOrigin {
    var session = UnsafeRawBufferPointer(start: nil, count: 0)
    var publisher = UnsafeRawBufferPointer(start: nil, count: 0)

    var isEmpty: Bool { session.isEmpty && publisher.isEmpty }

    /// Nil if it is empty.
    var verified: VerifiedOrigin? {
        isEmpty
            ? nil
            : VerifiedOrigin(
                session: String(decoding: session, as: UTF8.self), publisher: String(decoding: publisher, as: UTF8.self)
            )
    }

    static func with<Result>(
        _ session: String, _ publisher: String, _ body: (RowOrigin) throws -> Result
    ) rethrows -> Result {
        var (session, publisher) = (session, publisher)
        return try session.withUTF8 { session in
            try publisher.withUTF8 { publisher in
                try body(
                    RowOrigin(
                        session: UnsafeRawBufferPointer(session), publisher: UnsafeRawBufferPointer(publisher)))
            }
        }
    }
}
