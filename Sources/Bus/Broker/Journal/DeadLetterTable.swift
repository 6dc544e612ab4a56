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
    /// - Parameters:
    ///   - user: The user who rejects; nil on a bus without keys.
    ///   - limit: The maximum number of bytes of the letters of a user.
    ///   - sizes: The bytes of the letters of each user.
    /// - Returns: The number of letters of each consumer that were removed because of the limit.
    static func apply(
        _ batch: BatchContent, by user: String?, limit: Int, sizes: inout StoredSizes,
        in transaction: borrowing Journal.Transaction
    ) throws -> [String: Int] {
        for id in batch.resolvedDeadLetters {
            _ = try remove(id, sizes: &sizes, in: transaction)
        }
        guard let checkpoint = batch.checkpoint, let rejection = batch.rejection else { return [:] }
        let inserted = try Row.fetchOne(
            transaction.database,
            sql: """
                INSERT INTO letters
                    (consumer, epoch, offset, topic, header, data, code, reason, attempts, time, session, publisher,
                    rejector, size)
                SELECT :consumer, :epoch, offset, topics.name, header, data, :code, :reason, :attempts, :time,
                    session, messages.publisher, :rejector,
                    MAX(length(header) + length(data) + length(:reason), \(StoredSizes.minimum))
                FROM messages JOIN topics ON topics.id = messages.topic WHERE offset = :offset
                RETURNING size
                """,
            arguments: [
                "consumer": checkpoint.consumer, "epoch": Int64(clamping: checkpoint.epoch), "code": rejection.code,
                "reason": rejection.reason, "attempts": Int64(rejection.attempts), "time": transaction.time,
                "offset": Int64(clamping: checkpoint.offset), "rejector": user,
            ])
        guard let user, let inserted else { return [:] }
        sizes.add(try inserted.value("size"), to: user)
        guard sizes[user] > limit else { return [:] }
        return try removeOldest(of: user, keeping: limit / 10 * 9, sizes: &sizes, in: transaction)
    }

    /// - Returns: The consumer of the letter; nil if there is no such letter.
    private static func remove(
        _ id: Int64, sizes: inout StoredSizes, in transaction: borrowing Journal.Transaction
    ) throws -> String? {
        let removed = try Row.fetchOne(
            transaction.database, sql: "DELETE FROM letters WHERE id = :id RETURNING consumer, rejector, size",
            arguments: ["id": id])
        guard let removed else { return nil }
        if let user: String = try removed.value("rejector") { sizes.add(-(try removed.value("size")), to: user) }
        return try removed.value("consumer")
    }

    /// Removes the oldest letters that a user has rejected, of the publisher that has the most bytes: the letters of the
    /// others are not those of a flood.
    /// - Returns: The number of removed letters of each consumer.
    private static func removeOldest(
        of user: String, keeping limit: Int, sizes: inout StoredSizes, in transaction: borrowing Journal.Transaction
    ) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        while sizes[user] > limit {
            let letters = try Row.fetchAll(
                transaction.database,
                sql: """
                    SELECT id FROM letters WHERE rejector = :user AND publisher IS (
                        SELECT publisher FROM letters WHERE rejector = :user
                        GROUP BY publisher ORDER BY SUM(size) DESC LIMIT 1)
                    ORDER BY id LIMIT 1000
                    """, arguments: ["user": user])
            guard !letters.isEmpty else { break }
            for letter in letters where sizes[user] > limit {
                if let consumer = try remove(letter.value("id"), sizes: &sizes, in: transaction) {
                    counts[consumer, default: 0] += 1
                }
            }
        }
        return counts
    }

    /// The number of bytes of the letters that each user has rejected.
    static func sizes(_ database: Database) throws -> StoredSizes {
        try StoredSizes(
            database,
            sql: """
                SELECT rejector AS name, SUM(size) AS size FROM letters WHERE rejector IS NOT NULL GROUP BY rejector
                """)
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
