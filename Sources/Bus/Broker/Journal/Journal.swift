internal import BusAccess
internal import BusFormat
internal import BusKeys
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB
internal import Sodium
internal import SystemSupport

/// The journal of the broker, in SQLite: the messages, the documents, the producers, the durable consumers and the dead
/// letters.
///
/// Not `Sendable`: it belongs to the broker's thread. The epoch, topics, producers and consumers are also kept in
/// memory, and reloaded after a transaction has failed.
package final class Journal {
    let path: String
    package private(set) var epoch: UInt64 = 0
    /// The offset after which the messages of this epoch begin.
    private(set) var start: UInt64 = 0
    /// The offset of the last message; 0 if there is none.
    package private(set) var head: UInt64 = 0
    private(set) var topics = TopicTable()
    private(set) var producers: ProducerTable
    private(set) var consumers: ConsumerTable
    /// A description of the messages that the journal has lost since it was last used; nil if it shows no loss.
    private(set) var lossAtStart: String?
    /// The error that says that the journal is damaged and can no longer be used; nil if no damage has been found.
    private(set) var failure: BusError?

    /// The bytes of the retained documents of each publisher, and of the dead letters of each user who rejected them, on a bus
    /// with keys.
    private var (documentSizes, letterSizes) = (StoredSizes(), StoredSizes())
    /// The number of dead letters that were removed since the last call of ``drainRemovedLetters()``, by their consumer.
    private var removedLetters: [String: Int] = [:]
    private let limits: UserLimits
    private let messages: MessageTable
    private let documents: DocumentTable
    private var retention = JournalRetention()
    private let database: DatabaseQueue
    private let statements: TransactionStatements
    private let file: JournalFile
    private let checkpointer: Checkpointer
    private let marks: MarkMaker
    private let endRecord: EndRecord
    /// The last content of the record that was read or written; nil if there is none.
    private var recordedEnd: EndRecord.Content?
    /// The checksum of the row that was last inserted.
    private var lastChecksum: (offset: UInt64, checksum: Int64)?
    /// The offset of the last damaged row that was found when the journal was loaded; 0 if none was found. The row may
    /// be of any topic.
    private var lastDamage: UInt64 = 0
    /// The last result of ``markOfEnd()``, with the end of the journal for which it was made.
    private var lastMark: (epoch: UInt64, head: UInt64, mark: UInt64)?
    /// The end of the journal when it was opened. Messages after it were recorded by this process.
    private var firstHead: UInt64 = 0
    /// The offset up to which the tables of topics and producers are up to date; see ``Transaction/saveMoved()``.
    private var saved: UInt64 = 0
    /// The number of bytes of the batches after ``saved`` that this process has appended.
    private var unsavedSize = 0
    private var writeFailure: String?
    /// True from a failed transaction to the next successful reload: the data in memory may differ from the file.
    private var isLoadDue = false

    /// Opens a journal.
    /// - Parameter path: The file. It is created if there is none. Only this user can read it.
    /// - Throws: ``BusError`` with code `journal` and the path of the file.
    package init(path: String, durability: Durability = .process, limits: UserLimits = UserLimits()) throws {
        self.path = path
        self.limits = limits
        var configuration = Configuration()
        configuration.label = "journal"
        // ``prepare()`` leaves a transaction open between two calls of `inDatabase`.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")")
        }
        let resolvedPath = try JournalFile.restrict(path)
        do {
            // check-lines: the file was claimed above.
            database = try DatabaseQueue(path: path, configuration: configuration)
            checkpointer = try Checkpointer(path: path)
            database.inDatabase(checkpointer.watch)
            try JournalSchema.migrator.migrate(database)
            (statements, messages, documents, producers, consumers) = try database.inDatabase {
                try (
                    TransactionStatements($0), MessageTable($0), DocumentTable($0), ProducerTable($0),
                    ConsumerTable($0)
                )
            }
            file = try JournalFile(path: path)
            let key = try database.read { try Data.fetchOne($0, sql: "SELECT value FROM journal WHERE key = 'marks'") }
            guard let key = SipHash.Key(key ?? Data()) else {
                throw BusError(
                    .journal,
                    "the journal \(path) lacks its key: another program changed the file; restore it or move it away")
            }
            marks = MarkMaker(key: key)
            do {
                endRecord = try EndRecord(of: resolvedPath)
            } catch {
                throw BusError(.journal, "the journal \(path) cannot be opened: \(error)")
            }
            recordedEnd = endRecord.read()
            try load()
            // Damage in these tables is reported by who reads the messages.
            documentSizes = (try? database.inDatabase(documents.sizes)) ?? StoredSizes()
            letterSizes = (try? database.inDatabase(DeadLetterTable.sizes)) ?? StoredSizes()
            firstHead = head
            lossAtStart = try recordedEnd.flatMap { try loss(shownBy: $0.mark, at: $0.head, of: $0.epoch) }
            if lossAtStart == nil { try recordEnd() }
        } catch {
            guard let cause = DatabaseError(error) else { throw error }
            throw cause.isDamage
                ? Self.damaged(path, cause)
                : BusError(.journal, "the journal \(path) cannot be opened: \(cause.summary)")
        }
    }

    deinit {
        // Ends the transaction that ``prepare()`` may have opened.
        try? database.inDatabase(rollback)
        checkpointer.close()
    }

    /// The offset up to which retention has removed everything except retained documents.
    var pruned: UInt64 { retention.pruned }

    // MARK: Transactions

    /// Runs `body` in one transaction: the journal records everything that `body` appends, or nothing.
    /// - Parameter time: Milliseconds since 1970.
    /// - Throws: ``ProtocolError`` with code `journal` if SQLite fails, or the error of `body`. Nothing is recorded
    ///   then, except possibly after a failed commit.
    func transaction<Result>(at time: Int64, _ body: (inout Transaction) throws -> Result) throws -> Result {
        do {
            try loadIfDue()
            let result = try database.inDatabase { database in
                defer { try? rollback(database) }
                try begin(database)
                var transaction = Transaction(journal: self, database: database, time: time)
                let result = try body(&transaction)
                try transaction.saveMoved()
                try statements.commit.run()
                return result
            }
            documentSizes.commit()
            letterSizes.commit()
            // The batch is recorded, so a failure here must not refuse it.
            try? recordEnd()
            return result
        } catch {
            documentSizes.rollBack()
            letterSizes.rollBack()
            removedLetters = [:]
            isLoadDue = true
            try? loadIfDue()
            let refusal = refusal(error, "written")
            writeFailure = "\(refusal)"
            throw refusal
        }
    }

    /// Begins the next transaction in advance. It holds the file's write lock; readers of the file do not wait.
    func prepare() {
        // If this fails, the next write begins the transaction again and reports the failure.
        try? database.inDatabase(begin)
    }

    private func begin(_ database: Database) throws {
        if !database.isInsideTransaction { try statements.begin.run() }
    }

    private func rollback(_ database: Database) throws {
        if database.isInsideTransaction { try statements.rollback.run() }
    }

    /// Reads committed data. A transaction from ``prepare()`` may be open, but it contains no changes yet.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            try loadIfDue()
            return try database.inDatabase(body)
        } catch {
            throw refusal(error, "read")
        }
    }

    /// Reloads the data in memory if it was not reloaded since the last failed transaction. Until the reload succeeds,
    /// the data in memory must not be used.
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
        guard let cause = DatabaseError(error) else { return error }
        if cause.isDamage {
            failure = Self.damaged(path, cause)
        }
        return ProtocolError(.journal, "the journal \(path) cannot be \(verb): \(cause.summary)")
    }

    private static func damaged(_ path: String, _ error: DatabaseError) -> BusError {
        let salvage = "move the file away, or save the rest with 'sqlite3 \(path) .recover | sqlite3 NEW'"
        return BusError(
            .journal,
            "the journal \(path) is damaged or not a database (\(error.summary)): \(salvage)")
    }

    private func load() throws {
        try database.inDatabase { database in
            epoch = try Self.epoch(database)
            start = try number("start", database)
            retention = JournalRetention(pruned: try number("pruned", database))
            saved = try number("saved", database)
            topics = TopicTable(limit: limits.topics)
            let rows = try Row.fetchCursor(database, sql: "SELECT name, id, head, publisher FROM topics")
            while let row = try rows.next() {
                guard let topic = Topic(try row.value("name", as: String.self)) else { continue }
                // A greater offset is damaged: it would move the end of the journal.
                _ = try topics.add(
                    topic, id: row.value("id"), head: min(row.number("head"), saved), of: row.value("publisher"))
            }
            head = max(pruned, saved)
            lastDamage = 0
            try producers.load(database)
            try consumers.load(forgottenGeneration: try number("forgotten", database), database)
            try rollForward(database)
        }
    }

    /// Updates the tables of topics and producers in memory from the messages after ``saved``.
    private func rollForward(_ database: Database) throws {
        let sql = """
            SELECT \(MessageTable.columns), offset, time, producer, sequence
            FROM messages WHERE offset > :saved ORDER BY offset
            """
        let rows = try Row.fetchCursor(database, sql: sql, arguments: ["saved": Int64(clamping: saved)])
        while let row = try rows.next() {
            let offset: UInt64 = try row.number("offset")
            if let (topic, _) = MessageTable.intact(row, at: offset, topics) {
                head = max(head, offset)
                topics.move(topic, to: head)
            } else {
                lastDamage = head + 1
                // Another offset would move the end of the journal.
                guard offset == head + 1 else { continue }
                head = offset
            }
            guard let stored = try row.value("producer", as: Data?.self), let producer = ProducerID(stored: stored)
            else { continue }
            producers.move(
                producer, to: try row.number("sequence"), offset: head, at: try row.number("time"),
                of: try row.value("publisher"))
        }
    }

    private func number(_ key: String, _ database: Database) throws -> UInt64 {
        let row = try Row.fetchOne(
            database, sql: "SELECT value FROM journal WHERE key = :key", arguments: ["key": key])
        return try row?.number("value") ?? 0
    }

    /// The epoch: any positive number. 0 means any epoch in a request.
    private static func epoch(_ database: Database) throws -> UInt64 {
        let row = try Row.fetchOne(database, sql: "SELECT value FROM journal WHERE key = 'epoch'")
        guard let epoch = try row?.value("value", as: Int64.self), epoch > 0 else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the epoch is not a positive number")
        }
        return UInt64(epoch)
    }

    /// Returns the reason of the last transaction that has failed since the previous call; nil if none has failed.
    func removeWriteFailure() -> String? {
        defer { writeFailure = nil }
        return writeFailure
    }

    /// Checks that no damage of the journal has been found, and that the file is still at its path.
    /// - Throws: ``BusError`` with code `journal` if damage was found, or if there is another file or no file at the
    ///   path.
    func check() throws {
        if let failure { throw failure }
        try file.check()
    }

    // MARK: Epochs

    /// Begins a new epoch after a loss of messages. The epoch begins at the end that the journal had when it was
    /// opened.
    func renewEpoch(at time: Int64) throws {
        let new = UInt64.random(in: 1...UInt64(Int64.max))
        try transaction(at: time) { try $0.begin(epoch: new, at: firstHead) }
        (epoch, start) = (new, firstHead)
        try recordEnd()
    }

    /// Records the end of the journal for the next start, if it has changed.
    private func recordEnd() throws {
        let end = EndRecord.Content(epoch: epoch, head: head, mark: try markOfEnd())
        guard end.mark != 0, end != recordedEnd else { return }
        endRecord.write(end)
        recordedEnd = end
    }

    /// Returns the mark of the journal's end (see ``MarkMaker``); 0 if the journal is empty.
    func markOfEnd() throws -> UInt64 {
        guard head > 0 else { return 0 }
        if let lastMark, lastMark.epoch == epoch, lastMark.head == head { return lastMark.mark }
        let inserted = lastChecksum?.offset == head ? lastChecksum?.checksum : nil
        let checksum = try inserted ?? read { try messages.checksum(at: head, topics, $0) }
        let mark = marks.mark(of: head, in: epoch, checksum: checksum)
        lastMark = (epoch, head, mark)
        return mark
    }

    /// Compares the journal with a mark that it has made for the message at an offset of an epoch.
    /// - Returns: A description of the loss. Nil if the mark shows no loss, or was not made by this journal.
    func loss(shownBy mark: UInt64, at offset: UInt64, of markedEpoch: UInt64) throws -> String? {
        if let lastMark, lastMark == (markedEpoch, offset, mark) { return nil }
        guard mark != 0, marks.isAuthentic(mark, of: offset, in: markedEpoch) else { return nil }
        guard markedEpoch == epoch else { return "has another epoch than before" }
        guard offset <= head else {
            return
                "has lost its last \(offset - head) offsets: it ends at offset \(head), but ended at \(offset) before"
        }
        guard let checksum = try read({ try messages.checksum(at: offset, topics, $0) }),
            !marks.mayBe(mark, of: offset, in: epoch, checksum: checksum)
        else { return nil }
        return "has a different message at offset \(offset) than before"
    }

    // MARK: Reading

    /// A page of the matching messages after an offset.
    /// - Parameters:
    ///   - reader: The rights of the reader, on a bus with keys. A page contains only what a device may receive.
    ///   - rows: The number of rows at which the page ends.
    func messages(
        _ request: PageRequest, for reader: Rights? = nil, rows: Int = Limits.scanCount
    ) throws -> PackedPage {
        try page(request, messages.scan, isWhole: true, for: reader, rows: rows)
    }

    /// A page of the matching retained documents after an offset, in the order in which they were last published.
    func documents(
        _ request: PageRequest, for reader: Rights? = nil, rows: Int = Limits.scanCount
    ) throws -> PackedPage {
        try page(request, documents.scan, isWhole: false, for: reader, rows: rows)
    }

    /// A page with one retained document, or an empty page.
    func document(_ request: DocumentRequest) throws -> PackedPage {
        try check(epoch: request.epoch)
        var builder = PageBuilder(page: PackedPage(epoch: epoch, through: 0), topics: topics, isWanted: nil)
        return try read { _ in
            try documents.add(request, to: &builder)
            return builder.finished(head: head)
        }
    }

    /// A page of the retained documents of one type and subject, in the order in which they were last published.
    func documents(_ request: SubjectRequest) throws -> PackedPage {
        try check(epoch: request.epoch, after: request.after)
        var builder = PageBuilder(page: PackedPage(epoch: epoch, through: request.after), topics: topics, isWanted: nil)
        return try read { _ in
            try documents.withScan(of: request) { try builder.page(of: $0, after: request.after, head: head) }
        }
    }

    /// The matching topics that have messages after an offset.
    func heads(_ request: PageRequest, for reader: Rights? = nil) throws -> Heads {
        try check(request)
        let filters = Set(request.prefixes)
        let grown = topics.entries.filter {
            $0.head > request.after && $0.matches(filters) && reader?.mayRead($0) ?? true
        }
        let offsets = grown.map { ($0.name, $0.head) }
        return Heads(epoch: epoch, through: head, offsets: Dictionary(offsets) { max($0, $1) })
    }

    /// The number of messages after an offset on the matching topics, at most ``Limits/lag``. Messages up to ``pruned``
    /// do not count. If the request is for another epoch, all messages of this one count.
    func count(_ request: PageRequest, for reader: Rights? = nil) throws -> UInt64 {
        let after = request.epoch == 0 || request.epoch == epoch ? request.after : 0
        let floor = max(after, pruned)
        let filters = Set(request.prefixes)
        let grown = topics.entries.filter { $0.head > floor }
        let heads = grown.filter { $0.matches(filters) && reader?.mayRead($0) ?? true }.map(\.head)
        // In this journal every offset after `pruned` is a message.
        if heads.count == grown.count { return min(head - min(floor, head), Limits.lag) }
        return try read { _ in try messages.count(from: heads, after: floor, limit: Limits.lag) }
    }

    /// A page of the dead letters after an id. All letters of a page are of one epoch.
    func deadLetters(_ request: DeadLettersRequest, withData: Bool = true) throws -> DeadLetters {
        try read { try DeadLetterTable.page(request, withData: withData, $0) }
    }

    var hasRemovedLetters: Bool { !removedLetters.isEmpty }

    /// The number of dead letters since the last call that were removed because there were too many, by consumer.
    func drainRemovedLetters() -> [String: Int] {
        defer { removedLetters = [:] }
        return removedLetters
    }

    /// The number of dead letters of a consumer, or of all if the name is empty.
    func letterCount(of consumer: String) throws -> UInt64 {
        try read { try DeadLetterTable.count(of: consumer, $0) }
    }

    /// The offset of the last message that was recorded before a time, in milliseconds since 1970; 0 if there is none.
    func locate(_ time: UInt64) throws -> UInt64 {
        try read { try messages.locate(time, head: head, $0) }
    }

    /// The time of the last message, in milliseconds since 1970; 0 if there is none.
    func lastTime() throws -> Int64 {
        try read(messages.lastTime)
    }

    /// The producers that hold leased documents.
    func leaseOwners() throws -> [ProducerID] {
        try read(documents.leaseOwners)
    }

    /// The number of documents that a producer leases.
    func leaseCount(of owner: ProducerID) throws -> UInt64 {
        try read { try documents.leaseCount(of: owner, $0) }
    }

    /// - Parameter isWhole: True if `scan` selects all messages, false if it selects those of the documents.
    private func page(
        _ request: PageRequest, _ scan: RawStatement<MessageTable.ScanParameter>, isWhole: Bool, for reader: Rights?,
        rows: Int
    ) throws -> PackedPage {
        try check(request)
        let filters = Set(request.prefixes)
        let isWanted = topics.entries.map {
            max($0.head, lastDamage) > request.after && $0.matches(filters) && reader?.mayRead($0) ?? true
        }
        return try read { database in
            var builder = PageBuilder(
                page: PackedPage(epoch: epoch, through: request.after), topics: topics, isWanted: isWanted,
                reader: reader,
                extent: isWhole
                    ? .whole(pruned: pruned, head: head) { [documents] in try documents.offsets(in: $0, database) }
                    : .listed, rows: rows)
            // Usually there are no new messages. The heads of the topics show this without a scan.
            guard isWanted.contains(true) else { return builder.finished(head: head) }
            return try builder.page(of: scan, after: request.after, head: head)
        }
    }

    private func check(_ request: PageRequest) throws {
        try check(epoch: request.epoch, after: request.after)
    }

    private func check(epoch asked: UInt64, after offset: UInt64) throws {
        try check(epoch: asked)
        guard offset <= head else {
            throw ProtocolError(.epoch, "offset \(offset) is beyond the end of the journal, \(head)")
        }
    }

    private func check(epoch asked: UInt64) throws {
        guard asked == 0 || asked == epoch else {
            throw ProtocolError(
                .epoch,
                "the request is for epoch \(String(asked, radix: 16)), "
                    + "but the journal has epoch \(String(epoch, radix: 16))")
        }
    }

    /// True if a batch was recorded or refused before. False if the data in memory may differ from the file.
    func isRepeated(_ batch: BatchHead) -> Bool {
        !isLoadDue && batch.sequence <= producers[batch.producer]?.sequence ?? 0
    }

    // MARK: Durable consumers

    /// Handles a claim of a member of a durable consumer.
    /// - Parameter publisher: The user who claims; nil on a bus without keys.
    /// - Returns: The partitions that the member owns and, for a claim, the messages that retention removed before they
    ///   were handled.
    func claim(_ request: ClaimRequest, by publisher: String? = nil, at time: Int64) throws -> Claimed {
        switch request.purpose {
        case .claim:
            let (consumer, ownership) = try consumers.claiming(request, by: publisher, limit: limits.consumers)
            try transaction(at: time) { try $0.save(consumer, as: request.consumer) }
            return claimed(ownership, cutOffs: consumer.cutOffs.report)
        case .renewal:
            let group = (consumers[request.consumer] ?? Consumer()).group
            return claimed(group.ownership(of: request.member.id), cutOffs: [])
        case .leave:
            try transaction(at: time) { try $0.leave(request.member.id, of: request.consumer) }
            return claimed(Ownership(ownerGeneration: 0, offsets: [:]), cutOffs: [])
        }
    }

    private func claimed(_ ownership: Ownership, cutOffs: [CutOff]) -> Claimed {
        Claimed(ownerGeneration: ownership.ownerGeneration, epoch: epoch, offsets: ownership.offsets, cutOffs: cutOffs)
    }

    /// The durable consumers, sorted by name.
    var consumerList: ConsumerList {
        ConsumerList(
            epoch: epoch, head: head,
            consumers: consumers.rows.sorted { $0.key < $1.key }.map { name, consumer in
                ConsumerList.Entry(
                    name: name, position: consumer.group.position,
                    memberCount: UInt16(clamping: consumer.group.members.count))
            })
    }

    /// Removes a durable consumer. Its dead letters remain.
    /// - Throws: ``ProtocolError`` with code `malformed` if a process runs the consumer, or may run it.
    func forget(_ name: String, owner: OwnerLiveness, at time: Int64) throws {
        guard let consumer = consumers[name] else { return }
        do { try consumer.group.requireUnused(name, owner: owner) } catch { throw ProtocolError(error) }
        try transaction(at: time) { try $0.remove(name) }
    }

    // MARK: Retention

    /// Returns the number of bytes of the file that are in use, without the retained documents and dead letters.
    /// - Parameter limit: The size limit. Below 70 % of it, documents and dead letters are included.
    func usedSize(limit: Int, at time: Int64) throws -> Int {
        try read { try retention.usedSize(limit: limit, at: time, $0) }
    }

    /// Does one step of retention: removes the oldest messages that the limits do not keep.
    /// - Parameter count: The maximum number of offsets to examine.
    /// - Returns: True if there is more to remove, and the names of the consumers that now lose messages.
    func prune(_ limits: RetentionLimits, count: Int, at time: Int64) throws -> (hasMore: Bool, cutOff: [String]) {
        try requireLoaded()
        let excess = try limits.size.map { max(0, try usedSize(limit: $0, at: time) - $0) } ?? 0
        let limit = RetentionLimits.end(
            old: try limits.age.map { try locate(UInt64(clamping: time - Int64($0 / .milliseconds(1)))) },
            handled: consumers.position,
            tooLarge: excess > 0 ? try read { try retention.offset(freeing: excess, count: count, $0) } : nil,
            // A damaged row can have an offset after the end of the journal.
            last: head)
        let end = min(limit, pruned + UInt64(count))
        guard end > pruned else { return (false, []) }
        let cutOff = try transaction(at: time) { try $0.prune(through: end) }
        // If the journal was too large, the next step measures it again.
        return (end < limit || excess > 0, cutOff)
    }

    /// True if there are so many producers, of the bus or of one user, that the silent ones must be forgotten.
    var hasTooManyProducers: Bool {
        producers.rows.count > ProducerRow.capacity || producers.hasTooMany(limit: limits.producers)
    }

    /// The number of messages, and of their bytes, after which the tables of topics and producers are saved. The next
    /// start of the broker reads at most so much.
    private static var unsavedCount: UInt64 { 4096 }
    private static var unsavedSize: Int { 16 << 20 }
}

extension Journal {
    /// An open transaction. ``transaction(at:_:)`` lends it to its closure.
    struct Transaction: ~Copyable {
        let database: Database
        /// The time of the transaction, in milliseconds since 1970.
        let time: Int64
        private let journal: Journal
        /// True if the tables of topics and producers contain changes that cannot be restored from messages.
        private var isSaveDue = false

        fileprivate init(journal: Journal, database: Database, time: Int64) {
            self.journal = journal
            self.database = database
            self.time = time
        }

        /// Appends a batch, unless it is a repetition.
        /// - Parameters:
        ///   - publisher: Nil on a bus without keys.
        ///   - feed: Receives the messages in the form in which they are published.
        /// - Returns: The offset at which the batch ends.
        /// - Throws: ``ProtocolError`` if the batch is refused. None of its messages is recorded, and the transaction
        ///   continues. Errors of SQLite end the transaction.
        mutating func append(
            _ batch: BatchHead, from publisher: Publisher? = nil, to feed: inout [FeedMessage]
        ) throws -> UInt64 {
            let known =
                journal.producers[batch.producer] ?? ProducerRow(sequence: 0, offset: journal.head, time: time)
            guard batch.sequence > known.sequence else {
                if let refusal = try journal.producers.refusal(of: batch, in: self) { throw refusal }
                return try journal.producers.end(ofRepeated: batch, last: known, in: self)
            }
            guard batch.sequence == known.sequence + 1 else {
                throw ProtocolError(.sequence, "batch \(known.sequence + 1) is expected, not \(batch.sequence)")
            }
            let start = journal.head
            do {
                try apply(batch, from: publisher, to: &feed)
            } catch let refusal as ProtocolError {
                // A refused batch uses up its sequence number.
                journal.producers.move(
                    batch.producer, to: batch.sequence, offset: known.offset, at: time, of: publisher?.name)
                isSaveDue = true
                try journal.producers.keep(refusal, of: batch, in: self)
                throw refusal
            }
            // The last message of a batch contains the sequence of the batch. The sequence of a batch without messages
            // is recorded only in the table of producers.
            isSaveDue = isSaveDue || journal.head == start
            journal.producers.move(
                batch.producer, to: batch.sequence, offset: journal.head, at: time, of: publisher?.name)
            return journal.head
        }

        private func apply(_ batch: BatchHead, from publisher: Publisher?, to feed: inout [FeedMessage]) throws {
            // All checks that can refuse the batch come before the first write.
            let content = try BatchContent(of: batch)
            let messages = try ScannedBatch(content.messages, count: batch.count, topics: journal.topics)
            if let publisher {
                try check(messages, content, isLeased: batch.isLeased, of: publisher)
                try checkSize(ofDocumentsIn: messages, of: publisher)
            }
            try journal.topics.checkCapacity(for: messages.newTopics.count, of: publisher?.name)
            if let checkpoint = content.checkpoint {
                let end = Position(epoch: journal.epoch, offset: journal.head)
                if try journal.consumers.isHandled(checkpoint, end: end) { return }
            }
            try DeadLetterTable.check(content, in: self)
            let removed = try DeadLetterTable.apply(
                content, by: publisher?.name, limit: journal.limits.deadLetterSize, sizes: &journal.letterSizes,
                in: self)
            if !removed.isEmpty { journal.removedLetters.merge(removed, uniquingKeysWith: +) }
            if let checkpoint = content.checkpoint { try journal.consumers.record(checkpoint, in: self) }
            try append(messages, of: batch, from: publisher, to: &feed)
        }

        /// Checks that the publisher of a batch may do everything that the batch does.
        private func check(
            _ messages: ScannedBatch, _ content: BatchContent, isLeased: Bool, of publisher: Publisher
        ) throws {
            try publisher.check(messages, in: journal.topics, isLeased: isLeased) { type, subject, key in
                let document = DocumentIdentity(type: type, subject: subject, key: key)
                return try journal.documents.version(of: document, in: self)?.publisher
            }
            guard let rights = publisher.rights, !rights.areUnlimited else { return }
            var refusal = content.checkpoint.flatMap { rights.refusalToClaim($0.consumer) }
            for id in content.resolvedDeadLetters where refusal == nil {
                refusal = try DeadLetterTable.consumer(of: id, in: self).flatMap {
                    rights.refusalToSettleDeadLetters(of: $0)
                }
            }
            if let refusal { throw ProtocolError(.forbidden, refusal) }
        }

        /// Checks that there is room for the documents of a batch among those of its publisher.
        private func checkSize(ofDocumentsIn batch: ScannedBatch, of publisher: Publisher) throws {
            guard let rights = publisher.rights else { return }
            let name = publisher.name
            let limit = rights.role.session != nil ? journal.limits.deviceDocumentSize : journal.limits.documentSize
            var size = journal.documentSizes[name]
            batch.forEachDocument(journal.topics) { size += $1.documentSize }
            guard size > limit else { return }
            // What the batch replaces makes room.
            var replaced: Set<[[UInt8]]> = []
            try batch.forEachDocument(journal.topics) { document, _ in
                guard replaced.insert([document.type, Array(document.subject), Array(document.key)]).inserted,
                    let old = try journal.documents.version(of: document, in: self), old.publisher == name
                else { return }
                size -= old.size
            }
            // A batch may always withdraw, and make smaller.
            guard size > limit, size > journal.documentSizes[name] else { return }
            throw ProtocolError(
                .tooLarge,
                "the documents of '\(name)' would have \(size >> 10) KiB, more than \(limit >> 10) KiB; withdraw some")
        }

        /// Appends one message of the broker.
        /// - Parameter publisher: Nil on a bus without keys.
        func append(_ message: PublishedMessage, from publisher: Publisher? = nil, to feed: inout [FeedMessage]) throws
        {
            let messages = try ScannedBatch(PackedMessages([message]).bytes, count: 1, topics: journal.topics)
            try journal.topics.checkCapacity(for: messages.newTopics.count, of: publisher?.name)
            try append(messages, of: nil, from: publisher, to: &feed)
        }

        /// - Parameter sender: Nil for a message of the broker.
        private func append(
            _ batch: ScannedBatch, of sender: BatchHead?, from publisher: Publisher?, to feed: inout [FeedMessage]
        ) throws {
            journal.unsavedSize += batch.frame.count
            let new = try batch.newTopics.map { try add($0, of: publisher?.name) }
            let owner = sender.flatMap { $0.isLeased ? $0.producer : nil }
            func append(_ message: ScannedMessage) throws {
                let index = message.topic.index(amongNew: new)
                feed.append(try self.append(message, topic: index, owner: owner, from: publisher, batch))
            }
            journal.messages.setBatch(nil)
            for message in batch.messages.dropLast() { try append(message) }
            guard let last = batch.messages.last else { return }
            guard let sender else { return try append(last) }
            try sender.producer.withUnsafeBytes { producer in
                journal.messages.setBatch(producer, sequence: sender.sequence)
                try append(last)
            }
        }

        private func append(
            _ message: ScannedMessage, topic index: Int, owner: ProducerID?, from publisher: Publisher?,
            _ batch: ScannedBatch
        ) throws -> FeedMessage {
            let topic = journal.topics[index]
            let (offset, previous) = (journal.head + 1, topic.head)
            try batch.frame.withUnsafeBytes { frame in
                let data = UnsafeRawBufferPointer(rebasing: frame[message.data])
                let checksum = try journal.messages.insert(
                    offset: offset, topic: topic, header: UnsafeRawBufferPointer(rebasing: frame[message.header]),
                    data: data, session: UnsafeRawBufferPointer(rebasing: frame[message.subject]),
                    publisher: publisher?.name, in: self)
                journal.lastChecksum = (offset, checksum)
                guard topic.isDocument else { return }
                let identity = DocumentIdentity(type: topic.typeBytes, of: message, in: frame)
                if let publisher {
                    if let old = try journal.documents.version(of: identity, in: self) {
                        journal.documentSizes.add(-old.size, to: old.publisher)
                    }
                    journal.documentSizes.add(message.documentSize, to: publisher.name)
                }
                try journal.documents.retain(
                    identity, size: message.documentSize, publisher: publisher?.name, offset: offset, owner: owner,
                    pruned: journal.pruned, in: self)
            }
            let previousInPartition = journal.topics.head(of: topic.partition)
            journal.head = offset
            journal.topics.move(index, to: offset)
            return FeedMessage(
                topic: topic.name, epoch: journal.epoch, offset: offset, previous: previous,
                previousInPartition: previousInPartition, header: batch.frame[message.header],
                data: batch.frame[message.data], origin: batch.origin(of: message, from: publisher))
        }

        private func add(_ topic: Topic, of publisher: String?) throws -> Int {
            try database.execute(
                sql: "INSERT INTO topics (name, head, publisher) VALUES (:name, 0, :publisher)",
                arguments: ["name": topic.name, "publisher": publisher])
            return try journal.topics.add(topic, id: database.lastInsertedRowID, head: 0, of: publisher)
        }

        /// Withdraws the documents that a producer leases.
        /// - Parameter publisher: The broker; nil on a bus without keys.
        func withdrawLeases(
            of owner: ProducerID, from publisher: Publisher? = nil, to feed: inout [FeedMessage]
        ) throws {
            for message in try journal.documents.withdrawals(ofLeasesOf: owner, in: self) {
                try append(message, from: publisher, to: &feed)
            }
        }

        /// Removes the members of a producer from their durable consumers.
        func leave(_ producer: ProducerID) throws {
            try journal.consumers.leave(producer, in: self)
        }

        fileprivate func leave(_ member: UUID, of consumer: String) throws {
            try journal.consumers.leave([member], of: consumer, in: self)
        }

        fileprivate func save(_ consumer: Consumer, as name: String) throws {
            try journal.consumers.save(consumer, as: name, in: self)
        }

        fileprivate func remove(_ consumer: String) throws {
            try journal.consumers.remove(consumer, in: self)
        }

        /// Forgets the producers that have been silent for 7 days, and those that have been silent for longest if there
        /// are too many, of the bus or of one user.
        /// - Parameter alive: The producers that are alive. They are kept, however long ago they published.
        mutating func forgetProducers(
            but alive: some Sequence<ProducerID>, keeping capacity: Int = ProducerRow.capacity
        ) throws {
            isSaveDue = true
            try journal.producers.forget(but: alive, keeping: capacity, ofEach: journal.limits.producers, in: self)
        }

        /// Removes everything up to an offset, except retained documents.
        /// The journal keeps the type, number and offsets of the messages that consumers lost.
        /// - Returns: The names of the consumers that lost messages, and had lost none before that they have not
        ///   confirmed.
        fileprivate mutating func prune(through end: UInt64) throws -> [String] {
            isSaveDue = true
            let cutOff = try journal.retention.cutOff(
                journal.consumers, through: end, topics: journal.topics, in: database)
            let first = cutOff.keys.filter { journal.consumers[$0]?.cutOffs.isEmpty ?? true }
            for (name, consumer) in cutOff { try save(consumer, as: name) }
            try journal.retention.prune(through: end, in: self)
            return first
        }

        fileprivate func begin(epoch: UInt64, at start: UInt64) throws {
            for (key, value) in [("epoch", epoch), ("start", start)] {
                try database.execute(
                    sql: "UPDATE journal SET value = :value WHERE key = :key",
                    arguments: ["value": Int64(clamping: value), "key": key])
            }
        }

        /// Saves the changed rows of the topics and producers, if ``isSaveDue`` is true, or if enough was appended since
        /// the last save.
        fileprivate func saveMoved() throws {
            guard
                isSaveDue || journal.head - journal.saved >= Journal.unsavedCount
                    || journal.unsavedSize >= Journal.unsavedSize
            else { return }
            let move = journal.statements.moveTopic
            for topic in journal.topics.drainMoved() {
                move.bind(Int64(clamping: topic.head), to: .head)
                move.bind(topic.id, to: .id)
                try move.run()
            }
            try journal.producers.save(in: self)
            (journal.saved, journal.unsavedSize) = (journal.head, 0)
            try database.execute(
                sql: "UPDATE journal SET value = :saved WHERE key = 'saved'",
                arguments: ["saved": Int64(clamping: journal.saved)])
        }
    }
}

/// The statements that transactions run.
private struct TransactionStatements {
    enum TopicParameter: Int32, StatementParameter {
        case head = 1
        case id
    }

    let begin: RawStatement<NoParameter>
    let commit: RawStatement<NoParameter>
    let rollback: RawStatement<NoParameter>
    let moveTopic: RawStatement<TopicParameter>

    init(_ database: Database) throws {
        begin = try RawStatement("BEGIN IMMEDIATE", database)
        commit = try RawStatement("COMMIT", database)
        rollback = try RawStatement("ROLLBACK", database)
        moveTopic = try RawStatement("UPDATE topics SET head = :head WHERE id = :id", database)
    }
}

extension DatabaseError {
    /// True if the file is damaged or is not a database.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// The error and, if there is a remedy, the remedy.
    var summary: String {
        let text = message ?? "SQLite error \(extendedResultCode.rawValue)"
        return switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR: "\(text): make room on the disk or check it; a running broker then continues"
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN:
            "\(text): check that the folder exists, and the owner and permissions of folder and file"
        default: text
        }
    }
}
