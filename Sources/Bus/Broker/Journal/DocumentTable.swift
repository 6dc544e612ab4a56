internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The table of the journal's retained documents and their leases.
struct DocumentTable {
    /// Selects the retained documents after an offset, in the order in which they were last published.
    let scan: RawStatement<MessageTable.ScanParameter>
    /// Selects the retained documents of a type and a subject after an offset, in the same order.
    private let scanSubject: RawStatement<MessageTable.ScanParameter>
    private let lookUp: RawStatement<Parameter>
    private let retain: RawStatement<Parameter>
    private let withdraw: RawStatement<Parameter>
    private let offset: RawStatement<Parameter>
    private let version: RawStatement<Parameter>
    private let deleteMessage: RawStatement<MessageTable.Parameter>

    /// The parameters of the statements for one document.
    fileprivate enum Parameter: Int32, StatementParameter {
        case type = 1
        case subject, key, offset, owner, publisher, size
    }

    private static let selection = """
        SELECT documents.offset, \(MessageTable.columns) FROM documents LEFT JOIN messages USING (offset)
        """
    private static let identity = "documents.type = :type AND documents.subject = :subject AND documents.key = :key"

    static let lookUpSQL = "\(selection) WHERE \(identity)"

    static let scanSubjectSQL = """
        \(selection) WHERE documents.offset > :after AND documents.type = :type AND documents.subject = :subject
        ORDER BY documents.offset
        """

    init(_ database: Database) throws {
        scan = try RawStatement(
            "\(Self.selection) WHERE documents.offset > :after ORDER BY documents.offset", database)
        scanSubject = try RawStatement(Self.scanSubjectSQL, database)
        lookUp = try RawStatement(Self.lookUpSQL, database)
        retain = try RawStatement(
            """
            INSERT OR REPLACE INTO documents (type, subject, key, offset, owner, publisher, size)
            VALUES (:type, :subject, :key, :offset, :owner, :publisher, :size)
            """, database)
        withdraw = try RawStatement("DELETE FROM documents WHERE \(Self.identity)", database)
        offset = try RawStatement("SELECT offset FROM documents WHERE \(Self.identity)", database)
        version = try RawStatement("SELECT publisher, size FROM documents WHERE \(Self.identity)", database)
        deleteMessage = try RawStatement("DELETE FROM messages WHERE offset = :offset", database)
    }

    /// Retains a message as the current version of its document.
    /// - Parameters:
    ///   - size: The number of bytes of the document; 0 withdraws it.
    ///   - publisher: The verified publisher; nil on a bus without keys.
    ///   - owner: The producer that leases the document; nil if it is not leased.
    ///   - pruned: The offset up to which retention has removed everything except retained documents.
    func retain(
        _ document: DocumentIdentity, size: Int, publisher: String?, offset: UInt64, owner: ProducerID?, pruned: UInt64,
        in _: borrowing Journal.Transaction
    ) throws {
        if pruned > 0 { try removeSuperseded(document, pruned: pruned) }
        guard size > 0 else { return try document.bound(to: withdraw) { try $0.run() } }
        try document.bound(to: retain) { statement in
            statement.bind(Int64(offset), to: .offset)
            statement.bind(Int64(size), to: .size)
            statement.bindNull(to: .owner)
            statement.bindNull(to: .publisher)
            guard let owner else { return try statement.run(binding: publisher, to: .publisher) }
            try owner.withUnsafeBytes { id in
                statement.bind(blob: id, to: .owner)
                try statement.run(binding: publisher, to: .publisher)
            }
        }
    }

    /// Removes the message of the previous version if retention has kept it only because it was retained.
    private func removeSuperseded(_ document: DocumentIdentity, pruned: UInt64) throws {
        let old = try document.bound(to: offset) { try $0.step()?.first }
        guard let old, old <= Int64(pruned) else { return }
        deleteMessage.bind(old, to: .offset)
        try deleteMessage.run()
    }

    /// Adds one retained document to a page, if it exists.
    func add(_ request: DocumentRequest, to builder: inout PageBuilder) throws {
        try DocumentIdentity.with(request) { document in
            try document.bound(to: lookUp) { statement in
                if let row = try statement.step() { builder.add(row) }
            }
        }
    }

    /// Runs `body` with the statement that selects the documents of a type and a subject. The caller binds the offset
    /// after which they are selected.
    func withScan<Result>(
        of request: SubjectRequest, _ body: (RawStatement<MessageTable.ScanParameter>) throws -> Result
    ) rethrows -> Result {
        try Array(request.type.description.utf8).withUnsafeBytes { type in
            try Array(request.subject.utf8).withUnsafeBytes { subject in
                scanSubject.bind(text: type, to: .type)
                scanSubject.bind(text: subject, to: .subject)
                return try body(scanSubject)
            }
        }
    }

    /// The verified publisher of a retained document, and the number of its bytes. Nil if there is no such document, or if
    /// it is from before the bus had keys.
    func version(
        of document: DocumentIdentity, in _: borrowing Journal.Transaction
    ) throws -> (publisher: String, size: Int)? {
        try document.bound(to: version) { statement in
            guard let row = try statement.step(), let publisher = row.firstText else { return nil }
            return (publisher, Int(row.second))
        }
    }

    /// The number of bytes of the retained documents of each publisher.
    func sizes(_ database: Database) throws -> StoredSizes {
        try StoredSizes(
            database,
            sql: """
                SELECT publisher AS name, SUM(size) AS size FROM documents WHERE publisher IS NOT NULL GROUP BY publisher
                """)
    }

    /// The offsets of the retained documents in a range, in order.
    func offsets(in range: ClosedRange<UInt64>, _ database: Database) throws -> [UInt64] {
        let statement = try database.cachedStatement(
            sql: "SELECT offset FROM documents WHERE offset BETWEEN :first AND :last ORDER BY offset")
        let rows = try Row.fetchAll(
            statement,
            arguments: ["first": Int64(clamping: range.lowerBound), "last": Int64(clamping: range.upperBound)])
        return try rows.map { try $0.number("offset") }
    }

    /// The producers that hold leased documents.
    func leaseOwners(_ database: Database) throws -> [ProducerID] {
        try Data.fetchAll(database, sql: "SELECT DISTINCT owner FROM documents WHERE owner IS NOT NULL")
            .compactMap(ProducerID.init(stored:))
    }

    /// The number of documents that a producer leases.
    func leaseCount(of owner: ProducerID, _ database: Database) throws -> UInt64 {
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM documents WHERE owner = :owner")
        return UInt64(clamping: try Int64.fetchOne(statement, arguments: ["owner": owner.stored]) ?? 0)
    }

    /// Returns the messages that withdraw the documents which a producer leases.
    func withdrawals(
        ofLeasesOf owner: ProducerID, in transaction: borrowing Journal.Transaction
    ) throws -> [PublishedMessage] {
        let rows = try Row.fetchAll(
            transaction.database, sql: "SELECT type, subject, key FROM documents WHERE owner = :owner",
            arguments: ["owner": owner.stored])
        let time = Date(timeIntervalSince1970: Double(transaction.time) / 1000)
        return try rows.compactMap { row in
            guard let type = MessageType(try row.value("type", as: String.self)) else { return nil }
            let name = DocumentName(type, subject: try row.value("subject"), key: try row.value("key"))
            return try PublishedMessage(.withdrawal(of: name, source: "broker", time: time))
        }
    }
}

/// The type, subject and key of a document. The pointers are valid only while the caller keeps the frame or the
/// request.
struct DocumentIdentity {
    let type: [UInt8]
    let subject: UnsafeRawBufferPointer
    let key: UnsafeRawBufferPointer

    init(type: [UInt8], subject: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
        (self.type, self.subject, self.key) = (type, subject, key)
    }

    /// - Parameter frame: The frame of the message's batch.
    init(type: [UInt8], of message: ScannedMessage, in frame: UnsafeRawBufferPointer) {
        self.init(
            type: type, subject: UnsafeRawBufferPointer(rebasing: frame[message.subject]),
            key: UnsafeRawBufferPointer(rebasing: frame[message.key]))
    }

    /// Calls `body` with the document that a request asks for.
    fileprivate static func with<Result>(
        _ request: DocumentRequest, _ body: (DocumentIdentity) throws -> Result
    ) rethrows -> Result {
        try Array(request.subject.utf8).withUnsafeBytes { subject in
            try Array(request.key.utf8).withUnsafeBytes { key in
                try body(DocumentIdentity(type: Array(request.type.description.utf8), subject: subject, key: key))
            }
        }
    }

    /// Binds the type, subject and key to a statement and runs `body`.
    fileprivate func bound<Result>(
        to statement: RawStatement<DocumentTable.Parameter>,
        _ body: (RawStatement<DocumentTable.Parameter>) throws -> Result
    ) throws -> Result {
        try type.withUnsafeBytes { type in
            defer { statement.reset() }
            statement.bind(text: type, to: .type)
            statement.bind(text: subject, to: .subject)
            statement.bind(text: key, to: .key)
            return try body(statement)
        }
    }
}
