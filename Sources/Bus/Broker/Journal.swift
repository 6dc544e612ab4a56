internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// The broker's memory: an append-only log of messages in SQLite, with what is derived from it.
///
/// Not `Sendable`: it belongs to the broker's thread. What is looked up for every message is kept in memory and is
/// reloaded when a transaction fails.
package final class Journal {
    let database: DatabaseQueue
    private(set) var epoch: UInt64 = 0
    /// The offset of the last message; 0 while there is none.
    var head: UInt64 = 0
    var topics: [String: TopicRow] = [:]
    /// Topics whose head has moved in the transaction under way.
    var movedTopics: Set<String> = []
    var producers: [ProducerID: ProducerRow] = [:]

    /// - Parameter path: the file; it is made when there is none.
    /// - Throws: ``BusError`` with code `journal`, naming the file.
    package init(path: String, durability: Durability = .process) throws {
        var configuration = Configuration()
        configuration.label = "journal"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")")
        }
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
            try JournalSchema.migrator.migrate(database)
            try load()
        } catch let error as DatabaseError {
            throw BusError(.journal, "the journal \(path) cannot be opened: \(error.message ?? error.description)")
        }
    }

    /// Runs `body` in one transaction: what it appends is journalled all or not at all.
    /// - Throws: ``ProtocolError`` with code `journal`; nothing of `body` is left then.
    func transaction(_ body: (Database) throws -> Void) throws {
        do {
            try database.inDatabase { database in
                try database.inTransaction(.immediate) {
                    try body(database)
                    try saveTopics(database)
                    return .commit
                }
            }
        } catch let error as DatabaseError {
            try? load()
            throw ProtocolError(.journal, "the journal cannot be written: \(error.message ?? error.description)")
        }
    }

    private func load() throws {
        try database.inDatabase { database in
            epoch = UInt64(try Int64.fetchOne(database, sql: "SELECT value FROM journal WHERE key = 'epoch'") ?? 0)
            topics = [:]
            movedTopics = []
            let rows = try Row.fetchCursor(database, sql: "SELECT name, id, head FROM topics")
            while let row = try rows.next() {
                topics[row[0]] = TopicRow(id: row[1], head: UInt64(row[2] as Int64))
            }
            head = topics.values.map(\.head).max() ?? 0
            producers = try ProducerRow.all(database)
        }
    }

    private func saveTopics(_ database: Database) throws {
        let statement = try database.cachedStatement(sql: "UPDATE topics SET head = ? WHERE id = ?")
        for name in movedTopics {
            guard let topic = topics[name] else { continue }
            try statement.execute(arguments: [Int64(topic.head), topic.id])
        }
        movedTopics = []
    }

    /// Milliseconds since 1970, as the tables keep time.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
