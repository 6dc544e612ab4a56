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
