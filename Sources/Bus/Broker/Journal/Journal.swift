internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB
internal import Sodium

/// The broker's memory: an append-only log of messages in SQLite, with what is derived from it.
///
/// Not `Sendable`: it belongs to the broker's thread. What is looked up for every message is kept in memory and is
/// reloaded when a transaction fails.
package final class Journal {
    let path: String
    let database: DatabaseQueue
    let statements: JournalStatements
    let file: JournalFile
    package internal(set) var epoch: UInt64 = 0
    /// The offset at which the epoch began: everything after it was journalled in this epoch.
    private(set) var start: UInt64 = 0
    /// The offset of the last message; 0 while there is none.
    package internal(set) var head: UInt64 = 0
    /// Up to here retention has left only retained documents.
    var pruned: UInt64 = 0
    var topics = TopicTable()
    var producers: [ProducerID: ProducerRow] = [:]
    /// Up to here the tables of topics and producers say all that the messages do; see ``saveMoved(_:)``.
    private var saved: UInt64 = 0
    /// Whether the transaction under way has changed what no message tells of.
    var isSaveDue = false
    /// Producers whose row has changed since then.
    var movedProducers: [ProducerID] = []
    var consumers: [String: Consumer] = [:]
    /// The greatest owner epoch of a consumer that was removed; the key `forgotten`.
    var forgottenEpoch: UInt64 = 0
    /// When the transaction under way began.
    private(set) var time: Int64 = 0
    private let marks: MarkMaker
    /// The end of the journal as this run found it. Messages after it were journalled by this run.
    private var firstHead: UInt64 = 0
    /// The last mark that was made, and of what: most hellos find the journal as the one before did.
    private var lastMark: (epoch: UInt64, head: UInt64, mark: UInt64)?
    /// Where the batches of a producer ended that has sent some again.
    var repeated: RepeatedBatches?
    /// What retention never removes, when it was last measured.
    var kept: KeptSize?
    private var writeFailure: String?
    /// Whether what is in memory may be ahead of what is left in the file.
    private var isLoadDue = false
    /// Why nothing can be served any more.
    private(set) var failure: BusError?

    /// - Parameter path: the file; it is made when there is none.
    /// - Throws: ``BusError`` with code `journal`, naming the file.
    package init(path: String, durability: Durability = .process) throws {
        self.path = path
        var configuration = Configuration()
        configuration.label = "journal"
        // See ``prepare()``.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")")
        }
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
            try JournalSchema.migrator.migrate(database)
            statements = try database.inDatabase { try JournalStatements($0) }
            file = try JournalFile(path: path)
            let key = try database.read { try Data.fetchOne($0, sql: "SELECT value FROM journal WHERE key = 'marks'") }
            guard let key = SipHash.Key(key ?? Data()) else {
                throw BusError(
                    .journal, "the journal \(path) lacks its key: it was changed by something else than a broker")
            }
            marks = MarkMaker(key: key)
            try load()
            firstHead = head
        } catch let error as DatabaseError {
            throw error.isDamage
                ? Self.damaged(path, error)
                : BusError(.journal, "the journal \(path) cannot be opened: \(error.summary)")
        }
    }

    deinit {
        // A transaction that is open when the file is closed would call GRDB back while it goes.
        try? database.inDatabase(rollback)
    }

    /// Runs `body` in one transaction: what it appends is journalled all or not at all.
    /// - Parameter time: milliseconds since 1970.
    /// - Throws: ``ProtocolError`` with code `journal`; nothing of `body` is left then.
    func transaction(at time: Int64, _ body: (Database) throws -> Void) throws {
        self.time = time
        isSaveDue = false
        do {
            try loadIfDue()
            try database.inDatabase { database in
                defer { try? rollback(database) }
                try begin(database)
                try body(database)
                try saveMoved(database)
                try statements.commit.run()
            }
        } catch {
            isLoadDue = true
            try? loadIfDue()
            let refusal = refusal(error, "written")
            writeFailure = "\(refusal)"
            throw refusal
        }
    }

    /// Begins the next transaction while nobody waits for it: that takes as long as two rows. It keeps the file's write lock,
    /// and well so: what is in memory must not be changed behind its back. Readers are not held up.
    func prepare() {
        // What cannot be begun now is when there is something to write, and its failure told.
        try? database.inDatabase(begin)
    }

    private func begin(_ database: Database) throws {
        if !database.isInsideTransaction { try statements.begin.run() }
    }

    private func rollback(_ database: Database) throws {
        if database.isInsideTransaction { try statements.rollback.run() }
    }

    /// Reads what is committed: a transaction that has only begun holds nothing yet.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            try loadIfDue()
            return try database.inDatabase(body)
        } catch {
            throw refusal(error, "read")
        }
    }

    /// Loads what could not be loaded when a transaction failed. What is in memory counts for nothing until then: the next
    /// commit would acknowledge batches of which nothing is in the file.
    /// - Throws: ``ProtocolError`` with code `journal`.
    func requireLoaded() throws {
        if isLoadDue { try read { _ in } }
    }

    private func loadIfDue() throws {
        guard isLoadDue else { return }
        try load()
        isLoadDue = false
    }

    private func refusal(_ error: any Error, _ verb: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        if error.isDamage {
            failure = Self.damaged(path, error)
        }
        return ProtocolError(.journal, "the journal \(path) cannot be \(verb): \(error.summary)")
    }

    private static func damaged(_ path: String, _ error: DatabaseError) -> BusError {
        let salvage = "sqlite3 \(path) .recover | sqlite3 NEW"
        return BusError(
            .journal,
            "the journal \(path) is damaged (\(error.summary)): move it away, or save what is left with '\(salvage)'")
    }

    private func load() throws {
        try database.inDatabase { database in
            repeated = nil
            epoch = try number("epoch", database)
            start = try number("start", database)
            pruned = try number("pruned", database)
            forgottenEpoch = try number("forgotten", database)
            topics = TopicTable()
            let rows = try Row.fetchCursor(database, sql: "SELECT name, id, head FROM topics")
            while let row = try rows.next() {
                guard let topic = Topic(row[0] as String) else { continue }
                _ = try topics.add(topic, id: row[1], head: UInt64(clamping: row[2] as Int64))
            }
            head = max(topics.entries.map(\.head).max() ?? 0, pruned)
            try loadProducers(database)
            try loadConsumers(database)
            saved = try number("saved", database)
            try rollForward(database)
        }
    }

    /// Takes from the last messages what the tables of topics and producers do not say yet.
    private func rollForward(_ database: Database) throws {
        let sql = "SELECT offset, topic, time, producer, sequence FROM messages WHERE offset > ? ORDER BY offset"
        let rows = try Row.fetchCursor(database, sql: sql, arguments: [Int64(clamping: saved)])
        while let row = try rows.next() {
            head = max(head, UInt64(clamping: row[0] as Int64))
            if let index = topics.index(ofID: row[1]) { topics.move(index, to: head) }
            guard let stored = row[3] as Data?, let producer = ProducerID(stored: stored) else { continue }
            move(producer, to: UInt64(clamping: row[4] as Int64), offset: head, at: row[2])
        }
    }

    private func number(_ key: String, _ database: Database) throws -> UInt64 {
        let value = try Int64.fetchOne(database, sql: "SELECT value FROM journal WHERE key = ?", arguments: [key])
        return UInt64(clamping: value ?? 0)
    }

    /// Why a transaction failed since this was last called; nil if none did.
    func takeWriteFailure() -> String? {
        defer { writeFailure = nil }
        return writeFailure
    }

    /// Makes another journal of it, for those who have read more than is left of it: they begin anew.
    func renewEpoch(at time: Int64) throws {
        let new = UInt64.random(in: 1...UInt64(Int64.max))
        try transaction(at: time) { database in
            try database.execute(sql: "UPDATE journal SET value = ? WHERE key = 'epoch'", arguments: [Int64(new)])
            try database.execute(
                sql: "UPDATE journal SET value = ? WHERE key = 'start'", arguments: [Int64(clamping: firstHead)])
        }
        (epoch, start) = (new, firstHead)
    }

    /// Proves to a later run that the journal ended here; 0 while it is empty.
    func markOfEnd() throws -> UInt64 {
        guard head > 0 else { return 0 }
        if let lastMark, lastMark.epoch == epoch, lastMark.head == head { return lastMark.mark }
        let mark = marks.mark(of: head, in: epoch, checksum: try checksum(at: head))
        lastMark = (epoch, head, mark)
        return mark
    }

    /// What a mark of this epoch, which was given for an offset, tells of the journal's end.
    /// - Returns: nil when it tells of no loss, or was not made by this journal.
    func loss(shownBy mark: UInt64, at offset: UInt64) throws -> String? {
        if let lastMark, lastMark == (epoch, offset, mark) { return nil }
        guard mark != 0, marks.isAuthentic(mark, of: offset, in: epoch) else { return nil }
        guard offset <= head else { return "ends at \(head), but it has ended at \(offset)" }
        guard let checksum = try checksum(at: offset),
            !marks.mayBe(mark, of: offset, in: epoch, checksum: checksum)
        else { return nil }
        return "has another message at \(offset) than it had"
    }

    /// Nil when there is no message.
    private func checksum(at offset: UInt64) throws -> Int64? {
        try read { database in
            let statement = try database.cachedStatement(sql: "SELECT checksum FROM messages WHERE offset = ?")
            return try Int64.fetchOne(statement, arguments: [Int64(clamping: offset)])
        }
    }

    /// Saves where topics and producers stand. Each would cost every commit another page, and messages tell of both: so this is
    /// done now and then, and when it is due because no message tells, or because messages are about to go.
    private func saveMoved(_ database: Database) throws {
        guard isSaveDue || head - saved >= Self.unsavedCount else { return }
        for topic in topics.takeMoved() {
            statements.moveTopic.bind(Int64(clamping: topic.head), at: 1)
            statements.moveTopic.bind(topic.id, at: 2)
            try statements.moveTopic.run()
        }
        try saveMovedProducers()
        saved = head
        try database.execute(
            sql: "UPDATE journal SET value = ? WHERE key = 'saved'", arguments: [Int64(clamping: saved)])
    }

    /// Messages that are read anew when a broker starts: a few milliseconds.
    private static var unsavedCount: UInt64 { 4096 }

    /// Appends a batch, unless it was taken before. Only inside ``transaction(at:_:)``.
    /// - Parameter feed: gets the messages as they go out.
    /// - Returns: where the batch ended.
    /// - Throws: ``ProtocolError`` when the batch is refused: nothing of it is left, and the transaction goes on. What SQLite
    ///   throws ends the transaction.
    func append(_ batch: BatchHead, to feed: inout [FeedMessage], _ database: Database) throws -> UInt64 {
        let known = producers[batch.producer] ?? ProducerRow(sequence: 0, offset: head, time: time)
        guard batch.sequence > known.sequence else {
            if let refusal = try refusal(of: batch, database) { throw refusal }
            return try end(ofRepeated: batch, last: known, database)
        }
        guard batch.sequence == known.sequence + 1 else {
            throw ProtocolError(.sequence, "batch \(known.sequence + 1) is expected, not \(batch.sequence)")
        }
        let start = head
        do {
            try take(batch, to: &feed, database)
        } catch let refusal as ProtocolError {
            // It counts as taken: its publisher is told, and goes on with the next.
            move(batch.producer, to: batch.sequence, offset: known.offset)
            isSaveDue = true
            try keep(refusal, of: batch, database)
            throw refusal
        }
        // Its last message tells that it was taken, if there is one.
        isSaveDue = isSaveDue || head == start
        move(batch.producer, to: batch.sequence, offset: head)
        return head
    }

    private func take(_ batch: BatchHead, to feed: inout [FeedMessage], _ database: Database) throws {
        // All that can be refused is, before anything is written.
        let content = try BatchContent(of: batch)
        let messages = try ScannedBatch(content.messages, count: batch.count, topics: topics)
        try topics.checkCapacity(for: messages.newTopics.count)
        if try check(content.checkpoint) { return }
        try checkLetters(of: content, database)
        try settleLetters(content.settledLetters, database)
        if let checkpoint = content.checkpoint {
            try content.rejection.map { try keepLetter(checkpoint, $0, database) }
            try save(checkpoint, database)
        }
        try append(messages, of: batch, to: &feed, database)
    }

    /// Appends one message of the broker's own. Only inside ``transaction(at:_:)``.
    func append(_ message: PublishedMessage, to feed: inout [FeedMessage], _ database: Database) throws {
        let messages = try ScannedBatch(PackedMessages([message]).bytes, count: 1, topics: topics)
        try topics.checkCapacity(for: messages.newTopics.count)
        try append(messages, of: nil, to: &feed, database)
    }

    /// - Parameter sender: nil for a batch of the broker's own.
    private func append(
        _ batch: ScannedBatch, of sender: BatchHead?, to feed: inout [FeedMessage], _ database: Database
    ) throws {
        let new = try batch.newTopics.map { try add($0, database) }
        let owner = sender.flatMap { $0.isLeased ? $0.producer : nil }
        let insert = statements.insertMessage
        try batch.frame.withUnsafeBytes { frame in
            func append(_ message: ScannedMessage) throws {
                let index = message.topic.index(amongNew: new)
                feed.append(try self.append(message, topic: index, owner: owner, batch, frame))
            }
            insert.bindNull(at: 8)
            insert.bindNull(at: 9)
            try batch.messages.dropLast().forEach(append)
            guard let last = batch.messages.last else { return }
            guard let sender else { return try append(last) }
            try sender.producer.withUnsafeBytes { producer in
                insert.bind(blob: producer, at: 8)
                insert.bind(Int64(clamping: sender.sequence), at: 9)
                try append(last)
            }
        }
    }

    private func append(
        _ message: ScannedMessage, topic index: Int, owner: ProducerID?, _ batch: ScannedBatch,
        _ frame: UnsafeRawBufferPointer
    ) throws -> FeedMessage {
        let topic = topics[index]
        let (offset, previous) = (head + 1, topic.head)
        let header = UnsafeRawBufferPointer(rebasing: frame[message.header])
        let data = UnsafeRawBufferPointer(rebasing: frame[message.data])
        let insert = statements.insertMessage
        insert.bind(Int64(offset), at: 1)
        insert.bind(topic.id, at: 2)
        insert.bind(Int64(previous), at: 3)
        insert.bind(time, at: 4)
        insert.bind(blob: header, at: 5)
        insert.bind(blob: data, at: 6)
        let checksum = Checksum.of(
            topic: topic.hash, offset: offset, previous: previous, header: header, data: data)
        insert.bind(checksum, at: 7)
        try insert.run()
        if topic.isDocument {
            let identity = DocumentIdentity(
                type: topic.type, subject: UnsafeRawBufferPointer(rebasing: frame[message.subject]),
                key: UnsafeRawBufferPointer(rebasing: frame[message.key]))
            try retain(identity, isWithdrawn: data.isEmpty, offset: offset, owner: owner)
        }
        let previousInPartition = topics.head(of: topic.partition)
        head = offset
        topics.move(index, to: offset)
        return FeedMessage(
            topic: topic.name, epoch: epoch, offset: offset, previous: previous,
            previousInPartition: previousInPartition, header: batch.frame[message.header],
            data: batch.frame[message.data])
    }

    private func add(_ topic: Topic, _ database: Database) throws -> Int {
        try database.execute(sql: "INSERT INTO topics (name, head) VALUES (?, 0)", arguments: [topic.name])
        return try topics.add(topic, id: database.lastInsertedRowID, head: 0)
    }
}

/// The file that a journal was opened from.
struct JournalFile {
    private let path: String
    private let identity: Identity

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// - Throws: ``BusError`` with code `journal` when there is no such file.
    init(path: String) throws {
        self.path = path
        guard let identity = Self.identity(path) else { throw Self.gone(path) }
        self.identity = identity
    }

    /// - Throws: ``BusError`` with code `journal` when another file, or none, is at the path: what is written to the one
    ///   that is open would be gone with the process.
    func check() throws {
        guard Self.identity(path) == identity else { throw Self.gone(path) }
    }

    private static func identity(_ path: String) -> Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private static func gone(_ path: String) -> BusError {
        BusError(
            .journal,
            "the journal \(path) was removed or replaced while it was served: start the broker again, on the file that is to count"
        )
    }
}

extension DatabaseError {
    /// Whether the file is not, or no longer, a database.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// What is wrong, and what to do if there is something.
    var summary: String {
        let text = message ?? "SQLite error \(extendedResultCode.rawValue)"
        return switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: "\(text): make room on its disk; it goes on by itself then"
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN: "\(text): check who owns the file and its folder"
        default: text
        }
    }
}
