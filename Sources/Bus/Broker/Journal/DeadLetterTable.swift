internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The dead letters of the journal: copies of the messages that consumers have given up.
enum DeadLetterTable {
    /// Checks a batch before ``apply(_:in:)``.
    /// - Throws: ``ProtocolError`` with code `deadLetter` if a dead letter that the batch resolves, or the message
    ///   that it rejects, does not exist.
    static func check(_ batch: BatchContent, in transaction: borrowing Journal.Transaction) throws {
        for id in batch.resolvedDeadLetters {
            guard try consumer(of: id, in: transaction) != nil else {
                throw ProtocolError(.deadLetter, "there is no dead letter \(id)")
            }
        }
        guard let checkpoint = batch.checkpoint, batch.rejection != nil else { return }
        let exists = try Bool.fetchOne(
            transaction.database, sql: "SELECT EXISTS (SELECT 1 FROM messages WHERE offset = :offset)",
            arguments: ["offset": Int64(clamping: checkpoint.offset)])
        guard exists == true else {
            throw ProtocolError(.deadLetter, "the message at offset \(checkpoint.offset) is no longer in the journal")
        }
    }

    /// Removes the dead letters that a batch resolves, and copies the message that it rejects to the dead letters.
    /// ``check(_:in:)`` must be called first.
    /// - Parameter limit: The maximum number of bytes of a consumer's letters. Nil for no limit.
    /// - Returns: The number of letters that were removed because of the limit.
    static func apply(
        _ batch: BatchContent, limit: Int?, sizes: inout StoredSizes, in transaction: borrowing Journal.Transaction
    ) throws -> Int {
        for id in batch.resolvedDeadLetters {
            try remove(id, sizes: &sizes, in: transaction)
        }
        guard let checkpoint = batch.checkpoint, let rejection = batch.rejection else { return 0 }
        let inserted = try Row.fetchOne(
            transaction.database,
            sql: """
                INSERT INTO letters
                    (consumer, epoch, offset, topic, header, data, code, reason, attempts, time, session, publisher)
                SELECT :consumer, :epoch, offset, topics.name, header, data, :code, :reason, :attempts, :time,
                    session, messages.publisher
                FROM messages JOIN topics ON topics.id = messages.topic WHERE offset = :offset
                RETURNING \(size)
                """,
            arguments: [
                "consumer": checkpoint.consumer, "epoch": Int64(clamping: checkpoint.epoch), "code": rejection.code,
                "reason": rejection.reason, "attempts": Int64(rejection.attempts), "time": transaction.time,
                "offset": Int64(clamping: checkpoint.offset),
            ])
        let consumer = checkpoint.consumer
        if let inserted { sizes.add(try inserted.value("size"), to: consumer) }
        guard let limit, sizes[consumer] > limit else { return 0 }
        return try removeOldest(of: consumer, keeping: limit / 10 * 9, sizes: &sizes, in: transaction)
    }

    private static let size = "MAX(length(header) + length(data) + length(reason), \(StoredSizes.minimum)) AS size"

    private static func remove(
        _ id: Int64, sizes: inout StoredSizes, in transaction: borrowing Journal.Transaction
    ) throws {
        let removed = try Row.fetchOne(
            transaction.database, sql: "DELETE FROM letters WHERE id = :id RETURNING consumer, \(size)",
            arguments: ["id": id])
        if let removed { sizes.add(-(try removed.value("size", as: Int.self)), to: try removed.value("consumer")) }
    }

    /// Removes the oldest letters of a consumer, of the publisher that has the most bytes: the letters of the others are
    /// not those of a flood.
    private static func removeOldest(
        of consumer: String, keeping limit: Int, sizes: inout StoredSizes, in transaction: borrowing Journal.Transaction
    ) throws -> Int {
        var count = 0
        while sizes[consumer] > limit {
            let letters = try Row.fetchAll(
                transaction.database,
                sql: """
                    SELECT id FROM letters WHERE consumer = :consumer AND publisher IS (
                        SELECT publisher FROM (SELECT publisher, \(size) FROM letters WHERE consumer = :consumer)
                        GROUP BY publisher ORDER BY SUM(size) DESC LIMIT 1)
                    ORDER BY id LIMIT 1000
                    """, arguments: ["consumer": consumer])
            guard !letters.isEmpty else { break }
            for letter in letters where sizes[consumer] > limit {
                try remove(letter.value("id"), sizes: &sizes, in: transaction)
                count += 1
            }
        }
        return count
    }

    /// The number of bytes of the letters of each consumer.
    static func sizes(_ database: Database) throws -> StoredSizes {
        let letters = "SELECT consumer AS name, \(size) FROM letters"
        return try StoredSizes(database, sql: "SELECT name, SUM(size) AS size FROM (\(letters)) GROUP BY name")
    }

    /// The consumer that has given up a message. Nil if there is no such dead letter.
    static func consumer(of id: Int64, in transaction: borrowing Journal.Transaction) throws -> String? {
        let sql = "SELECT consumer FROM letters WHERE id = :id"
        return try Row.fetchOne(transaction.database, sql: sql, arguments: ["id": id])?.value("consumer")
    }

    /// The number of dead letters of a consumer, or of all if the name is empty.
    static func count(of consumer: String, _ database: Database) throws -> UInt64 {
        let count =
            consumer.isEmpty
            ? try Int64.fetchOne(database, sql: "SELECT COUNT(*) FROM letters")
            : try Int64.fetchOne(
                database, sql: "SELECT COUNT(*) FROM letters WHERE consumer = :consumer",
                arguments: ["consumer": consumer])
        return UInt64(clamping: count ?? 0)
    }

    /// A page of the dead letters after an id. All letters of a page are of one epoch.
    /// - Parameter withData: False if the data of the messages is left out.
    static func page(_ request: DeadLettersRequest, withData: Bool, _ database: Database) throws -> DeadLetters {
        var deadLetters: [DeadLetters.Entry] = []
        var size = 0
        // SQLite does not read the data of a row for its length.
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, time, consumer, attempts, code, reason, topic, epoch, offset, header, session, publisher,
                    length(data) AS size, \(withData ? "data" : "x'' AS data")
                FROM letters WHERE id > :after AND (:consumer = '' OR consumer = :consumer) ORDER BY id
                """,
            arguments: ["after": request.after, "consumer": request.consumer])
        while let row = try rows.next() {
            let deadLetter = try Self.deadLetter(row)
            let isOfPage = deadLetters.first.map { $0.message.epoch == deadLetter.message.epoch } ?? true
            guard isOfPage, deadLetters.count < Limits.pageCount, size < Limits.pageSize else {
                return DeadLetters(isComplete: false, deadLetters: deadLetters)
            }
            size +=
                deadLetter.message.header.count + deadLetter.message.data.count + deadLetter.rejection.reason.utf8.count
            deadLetters.append(deadLetter)
        }
        return DeadLetters(isComplete: true, deadLetters: deadLetters)
    }

    private static func deadLetter(_ row: Row) throws -> DeadLetters.Entry {
        let (header, data): (Data, Data) = (try row.value("header"), try row.value("data"))
        let epoch = UInt64(clamping: try row.value("epoch", as: Int64.self))
        let session: String? = try row.value("session")
        let origin = try session.map { VerifiedOrigin(session: $0, publisher: try row.value("publisher")) }
        return DeadLetters.Entry(
            id: try row.number("id"), time: try row.number("time"), consumer: try row.value("consumer"),
            rejection: RejectionFrame(
                attempts: try row.number("attempts"), code: try row.value("code"), reason: try row.value("reason")),
            message: FeedMessage(
                topic: try row.value("topic"), epoch: epoch, offset: try row.number("offset"), previous: 0,
                header: Array(header)[...], data: Array(data)[...], origin: origin),
            dataSize: try row.number("size"))
    }
}
