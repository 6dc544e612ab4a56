import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Journals of the first version")
struct MigrationTests {
    @Test("messages, damage and the positions of consumers are kept")
    func migration() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            try makeOldJournal(path)
            let journal = try Journal(path: path)
            #expect(journal.epoch == 42)
            let page = try journal.messages(PageRequest(epoch: 0, after: 0, prefixes: ["event."]))
            #expect(page.count == 1)
            #expect(page.damaged == [2])
            let group = try #require(journal.consumers["music"]?.group)
            #expect(group.ownerEpoch == 7)
            #expect(group.position == 1)
            #expect(group.shares.map(\.offset) == Array(repeating: 1, count: Partition.count))
        }
    }

    @Test("names are composed; of two that become one the one that was composed stays")
    func names() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            let old = try DatabaseQueue(path: path)
            try JournalSchema.migrator.migrate(old, upTo: "tail")
            let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
            try old.write { database in
                for (name, offset) in [(decomposed, 5), ("other \(decomposed)", 7), (composed, 9)] {
                    try database.execute(sql: "INSERT INTO consumers VALUES (?, 1)", arguments: [name])
                    for partition in 0..<Partition.count {
                        try database.execute(
                            sql: "INSERT INTO shares VALUES (?, ?, NULL, 0, ?)", arguments: [name, partition, offset])
                    }
                }
                try database.execute(
                    sql: "INSERT INTO documents VALUES ('document.A', ?, ?, 1, NULL)",
                    arguments: [decomposed, decomposed])
            }
            try old.close()
            let journal = try Journal(path: path)
            #expect(journal.consumers.mapValues(\.group.position) == [composed: 9, "other \(composed)": 7])
            #expect(journal.consumers.keys.allSatisfy { !$0.unicodeScalars.contains("\u{301}") })
            let keys = try journal.read { try String.fetchAll($0, sql: "SELECT subject || key FROM documents") }
            #expect(keys.map { Array($0.utf8) } == [Array("\(composed)\(composed)".utf8)])
        }
    }

    /// As the first version wrote it, with the second of two messages damaged.
    private func makeOldJournal(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        try JournalSchema.migrator.migrate(database, upTo: "journal")
        let topic = Topic(MessageType(kind: .event, name: "A"), subject: "default").name
        try database.write { database in
            try database.execute(sql: "UPDATE journal SET value = 42 WHERE key = 'epoch'")
            try database.execute(sql: "INSERT INTO topics VALUES (1, ?, 2)", arguments: [topic])
            for (offset, previous) in [(1, 0), (2, 1)] as [(UInt64, UInt64)] {
                var hash = Hash()
                for number in [offset, previous] {
                    withUnsafeBytes(of: number.bigEndian) { hash.combine($0) }
                }
                hash.combine(topic.utf8)
                hash.combine([1, 2] as [UInt8])
                try database.execute(
                    sql: "INSERT INTO messages VALUES (?, 1, ?, 0, x'01', ?, ?)",
                    arguments: [
                        Int64(offset), Int64(previous), Data([offset == 1 ? 2 : 3]), Int64(bitPattern: hash.value),
                    ])
            }
            try database.execute(sql: "INSERT INTO consumers VALUES ('music', 7, x'00', 1)")
        }
    }
}
