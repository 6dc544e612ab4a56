internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// Keeps `message` as the last of its document; one without data withdraws the document.
    func retain(
        _ message: PublishedMessage, on topic: Topic, offset: UInt64, owner: ProducerID?, _ database: Database
    ) throws {
        let identity: StatementArguments = [topic.type.description, message.subject, message.key]
        if message.data.isEmpty {
            let sql = "DELETE FROM documents WHERE type = ? AND subject = ? AND key = ?"
            try database.cachedStatement(sql: sql).execute(arguments: identity)
        } else {
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)")
                .execute(arguments: identity + [Int64(offset), owner?.stored])
        }
    }

    /// The retained documents behind an offset, in the order in which they were last published.
    func documents(_ request: PageRequest) throws -> Page {
        try page(
            request,
            sql: """
                SELECT messages.offset, topics.name, previous, header, data, checksum
                FROM documents JOIN messages USING (offset) JOIN topics ON topics.id = messages.topic
                WHERE documents.offset > ? ORDER BY documents.offset
                """)
    }

    /// The producers that hold leased documents.
    func leaseOwners() throws -> [ProducerID] {
        try database.inDatabase { database in
            try Data.fetchAll(database, sql: "SELECT DISTINCT owner FROM documents WHERE owner IS NOT NULL")
                .compactMap(ProducerID.init(stored:))
        }
    }

    /// Withdraws what a producer leased. Only inside ``transaction(_:)``.
    func withdrawLeases(of owner: ProducerID, _ database: Database) throws -> [FeedMessage] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT type, subject, key FROM documents WHERE owner = ?", arguments: [owner.stored])
        return try rows.compactMap { row in
            guard let type = MessageType(row[0]) else { return nil }
            var attributes = Attributes(type: type, source: "broker", subject: row[1])
            attributes.key = (row[2] as String).isEmpty ? nil : row[2]
            let tombstone = try PublishedMessage(Envelope(attributes: attributes, data: Data()))
            return try append(tombstone, on: Topic(type, subject: attributes.subject), owner: nil, database)
        }
    }
}
