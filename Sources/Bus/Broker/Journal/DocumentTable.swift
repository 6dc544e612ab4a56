internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The table of the journal's retained documents and their leases.
struct DocumentTable {
    /// Selects the retained documents after an offset, in the order in which they were last published.
    let scan: RawStatement
    /// Selects the retained documents of a type and a subject after an offset, in the same order.
    private let scanSubject: RawStatement
    private let lookUp: RawStatement
    private let retain: RawStatement
    private let withdraw: RawStatement
    private let offset: RawStatement
    private let deleteMessage: RawStatement

    static let lookUpSQL = """
        SELECT documents.offset, \(MessageTable.columns) FROM documents LEFT JOIN messages USING (offset)
        WHERE documents.type = ? AND documents.subject = ? AND documents.key = ?
        """

    static let scanSubjectSQL = """
        SELECT documents.offset, \(MessageTable.columns) FROM documents LEFT JOIN messages USING (offset)
        WHERE documents.offset > ? AND documents.type = ? AND documents.subject = ? ORDER BY documents.offset
        """

    init(_ database: Database) throws {
        scan = try RawStatement(
            """
            SELECT documents.offset, \(MessageTable.columns) FROM documents LEFT JOIN messages USING (offset)
            WHERE documents.offset > ? ORDER BY documents.offset
            """, database)
        scanSubject = try RawStatement(Self.scanSubjectSQL, database)
        lookUp = try RawStatement(Self.lookUpSQL, database)
        retain = try RawStatement("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", database)
        withdraw = try RawStatement("DELETE FROM documents WHERE type = ? AND subject = ? AND key = ?", database)
        offset = try RawStatement(
            "SELECT offset FROM documents WHERE type = ? AND subject = ? AND key = ?", database)
        deleteMessage = try RawStatement("DELETE FROM messages WHERE offset = ?", database)
    }

    /// Retains a message as the current version of its document. A message without data withdraws the document.
    /// - Parameters:
    ///   - owner: The producer that leases the document; nil if it is not leased.
    ///   - pruned: The offset up to which retention has removed everything except retained documents.
    func retain(
        _ document: DocumentIdentity, isWithdrawn: Bool, offset: UInt64, owner: ProducerID?, pruned: UInt64,
        in _: borrowing Journal.Transaction
    ) throws {
        if pruned > 0 { try removeSuperseded(document, pruned: pruned) }
        guard !isWithdrawn else { return try document.bound(to: withdraw) { _ = try $0.step() } }
        try document.bound(to: retain) { statement in
            statement.bind(Int64(offset), at: 4)
            guard let owner else {
                statement.bindNull(at: 5)
                _ = try statement.step()
                return
            }
            try owner.withUnsafeBytes { id in
                statement.bind(blob: id, at: 5)
                _ = try statement.step()
            }
        }
    }

    /// Removes the message of the previous version if retention has kept it only because it was retained.
    private func removeSuperseded(_ document: DocumentIdentity, pruned: UInt64) throws {
        let old = try document.bound(to: offset) { try $0.step() ? $0.integer(0) : nil }
        guard let old, old <= Int64(pruned) else { return }
        deleteMessage.bind(old, at: 1)
        try deleteMessage.run()
    }

    /// Adds one retained document to a page, if it exists.
    func add(_ request: DocumentRequest, to builder: inout PageBuilder) throws {
        try DocumentIdentity.with(request) { document in
            try document.bound(to: lookUp) { row in
                if try row.step() { builder.add(row) }
            }
        }
    }

    /// Runs `body` with the statement that selects the documents of a type and a subject. Its first parameter is the
    /// offset after which they are selected.
    func withScan<Result>(of request: SubjectRequest, _ body: (RawStatement) throws -> Result) rethrows -> Result {
        try Array(request.type.description.utf8).withUnsafeBytes { type in
            try Array(request.subject.utf8).withUnsafeBytes { subject in
                scanSubject.bind(text: type, at: 2)
                scanSubject.bind(text: subject, at: 3)
                return try body(scanSubject)
            }
        }
    }

    /// The offsets of the retained documents in a range, in order.
    func offsets(in range: ClosedRange<UInt64>, _ database: Database) throws -> [UInt64] {
        let statement = try database.cachedStatement(
            sql: "SELECT offset FROM documents WHERE offset BETWEEN ? AND ? ORDER BY offset")
        let rows = try Row.fetchAll(
            statement, arguments: [Int64(clamping: range.lowerBound), Int64(clamping: range.upperBound)])
        return try rows.map { try $0.number(0) }
    }

    /// The producers that hold leased documents.
    func leaseOwners(_ database: Database) throws -> [ProducerID] {
        try Data.fetchAll(database, sql: "SELECT DISTINCT owner FROM documents WHERE owner IS NOT NULL")
            .compactMap(ProducerID.init(stored:))
    }

    /// The number of documents that a producer leases.
    func leaseCount(of owner: ProducerID, _ database: Database) throws -> UInt64 {
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM documents WHERE owner = ?")
        return UInt64(clamping: try Int64.fetchOne(statement, arguments: [owner.stored]) ?? 0)
    }

    /// Returns the messages that withdraw the documents which a producer leases.
    func withdrawals(
        ofLeasesOf owner: ProducerID, in transaction: borrowing Journal.Transaction
    ) throws -> [PublishedMessage] {
        let rows = try Row.fetchAll(
            transaction.database, sql: "SELECT type, subject, key FROM documents WHERE owner = ?",
            arguments: [owner.stored])
        let time = Date(timeIntervalSince1970: Double(transaction.time) / 1000)
        return try rows.compactMap { row in
            guard let type = MessageType(try row.value(0, as: String.self)) else { return nil }
            let (subject, key): (String, String) = (try row.value(1), try row.value(2))
            let name = DocumentName(type, subject: subject, key: key)
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

    /// Binds the first three parameters of a statement and runs `body`.
    fileprivate func bound<Result>(
        to statement: RawStatement, _ body: (RawStatement) throws -> Result
    ) throws -> Result {
        try type.withUnsafeBytes { type in
            defer { statement.reset() }
            statement.bind(text: type, at: 1)
            statement.bind(text: subject, at: 2)
            statement.bind(text: key, at: 3)
            return try body(statement)
        }
    }
}
