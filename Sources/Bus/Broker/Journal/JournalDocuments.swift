internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// Keeps a message as the last of its document; one without data withdraws the document.
    func retain(_ document: DocumentIdentity, isWithdrawn: Bool, offset: UInt64, owner: ProducerID?) throws {
        if pruned > 0 { try removeSuperseded(document) }
        guard !isWithdrawn else {
            return try document.bound(to: statements.withdrawDocument) { _ = try $0.step() }
        }
        try document.bound(to: statements.retainDocument) { statement in
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

    /// Retention has passed by a row only because it was retained.
    private func removeSuperseded(_ document: DocumentIdentity) throws {
        let old = try document.bound(to: statements.documentOffset) { try $0.step() ? $0.integer(0) : nil }
        guard let old, old <= Int64(pruned) else { return }
        statements.deleteMessage.bind(old, at: 1)
        try statements.deleteMessage.run()
    }

    /// The retained documents behind an offset, in the order in which they were last published.
    func documents(_ request: PageRequest) throws -> PackedPage {
        try page(request, statements.documents)
    }

    /// One retained document, if there is one.
    func document(_ request: DocumentRequest) throws -> PackedPage {
        try check(epoch: request.epoch)
        var builder = PageBuilder(page: PackedPage(epoch: epoch, through: 0), topics: topics, isWanted: nil)
        return try read { _ in
            try DocumentIdentity.with(request) { document in
                try document.bound(to: statements.document) { row in
                    if try row.step() { builder.add(row) }
                }
            }
            return builder.finished(head: head)
        }
    }

    /// The producers that hold leased documents.
    func leaseOwners() throws -> [ProducerID] {
        try read { database in
            try Data.fetchAll(database, sql: "SELECT DISTINCT owner FROM documents WHERE owner IS NOT NULL")
                .compactMap(ProducerID.init(stored:))
        }
    }

    func hasLeases(_ owner: ProducerID) throws -> Bool {
        try read { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM documents WHERE owner = ?)", arguments: [owner.stored])
                ?? false
        }
    }

    /// How many documents a producer leases.
    func leaseCount(of owner: ProducerID) throws -> UInt64 {
        try read { database in
            let statement = try database.cachedStatement(sql: "SELECT count(*) FROM documents WHERE owner = ?")
            return UInt64(clamping: try Int64.fetchOne(statement, arguments: [owner.stored]) ?? 0)
        }
    }

    /// Withdraws what a producer leased. Only inside ``transaction(at:_:)``.
    func withdrawLeases(of owner: ProducerID, to feed: inout [FeedMessage], _ database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT type, subject, key FROM documents WHERE owner = ?", arguments: [owner.stored])
        for row in rows {
            guard let type = MessageType(row[0] as String) else { continue }
            var attributes = Attributes(
                type: type, source: "broker", subject: row[1], time: Date(timeIntervalSince1970: Double(time) / 1000))
            attributes.key = (row[2] as String).isEmpty ? nil : row[2]
            try append(PublishedMessage(Envelope(attributes: attributes, data: Data())), to: &feed, database)
        }
    }
}

/// Which document a message is, as bytes that live as long as the message's frame.
struct DocumentIdentity {
    let type: [UInt8]
    let subject: UnsafeRawBufferPointer
    let key: UnsafeRawBufferPointer

    /// The document that a request asks for, for as long as `body` runs.
    static func with<Result>(
        _ request: DocumentRequest, _ body: (DocumentIdentity) throws -> Result
    ) rethrows -> Result {
        try Array(request.subject.utf8).withUnsafeBytes { subject in
            try Array(request.key.utf8).withUnsafeBytes { key in
                try body(DocumentIdentity(type: Array(request.type.description.utf8), subject: subject, key: key))
            }
        }
    }

    /// Binds the first three parameters of a statement and runs `body`.
    func bound<Result>(to statement: RawStatement, _ body: (RawStatement) throws -> Result) throws -> Result {
        try type.withUnsafeBytes { type in
            defer { statement.reset() }
            statement.bind(text: type, at: 1)
            statement.bind(text: subject, at: 2)
            statement.bind(text: key, at: 3)
            return try body(statement)
        }
    }
}
