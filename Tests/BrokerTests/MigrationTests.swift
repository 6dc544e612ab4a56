import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Support
import Testing

@testable import Broker

@Suite("Journals of the first version")
struct MigrationTests {
    @Test("A migration keeps messages, damage and the positions of consumers")
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
            #expect(group.ownerGeneration == 7)
            #expect(group.position == 1)
            #expect(group.shares.map(\.offset) == Array(repeating: 1, count: Partition.count))
        }
    }

    @Test("A migration composes names, and keeps the composed one of two that become equal")
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
            #expect(journal.consumers.rows.mapValues(\.group.position) == [composed: 9, "other \(composed)": 7])
            #expect(journal.consumers.rows.keys.allSatisfy { !$0.unicodeScalars.contains("\u{301}") })
            let keys = try journal.read { try String.fetchAll($0, sql: "SELECT subject || key FROM documents") }
            #expect(keys.map { Array($0.utf8) } == [Array("\(composed)\(composed)".utf8)])
        }
    }

    @Test("A migration counts the retained documents of each publisher")
    func sizes() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            let old = try DatabaseQueue(path: path)
            try JournalSchema.migrator.migrate(old, upTo: "names of users")
            try old.write { database in
                for (offset, publisher) in [(1, "anna"), (2, "anna"), (3, nil)] as [(Int, String?)] {
                    try database.execute(
                        sql: """
                            INSERT INTO messages VALUES (?, 1, 0, 0, x'01', zeroblob(?), 0, NULL, NULL, 'anna', ?)
                            """,
                        arguments: [offset, offset * 1500, publisher])
                    try database.execute(
                        sql: "INSERT INTO documents VALUES ('document.A', 'anna', ?, ?, NULL)",
                        arguments: ["\(offset)", offset])
                }
            }
            try old.close()
            let journal = try Journal(path: path)
            let sizes = try journal.read { try DocumentTable($0).sizes($0) }
            #expect(sizes["anna"] == 1501 + 3001)
        }
    }

    /// Creates a journal of the first version. The second of its two messages is damaged.
    private func makeOldJournal(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        try JournalSchema.migrator.migrate(database, upTo: "journal")
        let topic = Topic(MessageType(kind: .event, name: "A"), subject: "default").name
        try database.write { database in
            try database.execute(sql: "UPDATE journal SET value = 42 WHERE key = 'epoch'")
            try database.execute(sql: "INSERT INTO topics VALUES (1, ?, 2)", arguments: [topic])
            for (offset, previous) in [(1, 0), (2, 1)] as [(UInt64, UInt64)] {
                var hash = FNV1a()
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

@Suite("Journals of the previous version")
struct EarlierVersionTests {
    /// Runs `body` with a broker of this version on a journal of version 0.1.0.
    private func onJournal(_ body: (Fixture) throws -> Void) throws {
        let dump = URL(fileURLWithPath: #filePath).appendingPathComponent("../../Fixtures/Journals/0.1.0.sql")
        let sql = try String(contentsOf: dump.standardizedFileURL, encoding: .utf8)
        var failure: (any Error)?
        try Fixture.run {
            do {
                let database = try DatabaseQueue(path: $0.journal)
                try database.writeWithoutTransaction { try $0.execute(sql: sql) }
                try database.close()
            } catch {
                failure = error
            }
        } _: { fixture in
            if let failure { throw failure }
            try body(fixture)
        }
    }

    private static let positions = ["error-notifier": 32, "onboarding-service": 32, "worker": 18] as [String: UInt64]

    @Test("No consumer loses its position, at the start or when the next process claims", arguments: [1, 2])
    func positions(starts: Int) throws {
        try onJournal { fixture in
            for _ in 1..<starts { try fixture.restart() }
            #expect(fixture.journal.head == 32)
            let consumers = try #require(fixture.consumers())
            #expect(Dictionary(uniqueKeysWithValues: consumers.map { ($0.name, $0.position) }) == Self.positions)
            #expect(consumers.map(\.memberCount) == [0, 2, 0])
            // After the time of a lease (5 s), the processes that ran the consumers count as ended.
            try fixture.tick(after: .seconds(6))
            for (name, position) in Self.positions {
                let claimed = try #require(fixture.claim(name))
                #expect(claimed.offsets.count == Partition.count)
                #expect(Set(claimed.offsets.values) == [position], "\(name)")
                #expect(claimed.cutOffs.isEmpty)
            }
        }
    }

    @Test("A process that outlives its broker keeps its claim, and a displaced one does not")
    func owners() throws {
        try onJournal { fixture in
            let member = ConsumerMember(
                .shared, id: try #require(UUID(uuidString: "2852CF71-85F4-4DED-BEA2-15F2AC36F867")))
            let renewed = try #require(fixture.claim("onboarding-service", as: member, isRenewal: true))
            #expect(renewed.ownerGeneration == 2)
            #expect(renewed.offsets.count == Partition.count / 2)
            let message = fixture.publish(sequence: 1, ["A"])
            #expect(message == fixture.published(33))
            let partition = try #require(renewed.offsets.keys.first)
            for (sequence, offset, previous) in [(2, 32, 32), (3, 33, 32)] as [(UInt64, UInt64, UInt64)] {
                let checkpoint = fixture.checkpoint(
                    "onboarding-service", owner: 2, offset: offset, partition: partition, previous: previous)
                #expect(fixture.publish(sequence: sequence, [], checkpoint: checkpoint) == fixture.published(33))
            }
            let displaced = ConsumerMember(
                .exclusive, id: try #require(UUID(uuidString: "9ED8A516-BF7F-45AE-880C-032204B7E7D4")))
            #expect(fixture.claim("worker", as: displaced) == nil)
        }
    }

    @Test("All documents, leases, dead letters and messages are intact")
    func content() throws {
        try onJournal { fixture in
            let documents = fixture.documents()
            #expect(documents.map(\.offset) == [2, 4, 6, 20, 23, 27, 29, 30, 31, 32])
            for (name, subject, key, offset) in [
                ("Devices", "default", "a", 27), ("Devices", "default", "b", 29),
                ("OnboardingDraft", "default", "", 20), ("OnboardingDraft", "alice", "", 23),
                ("Presence", "default", "2725f874", 31),
            ] as [(String, String, String, UInt64)] {
                let page = try #require(try fixture.document(name, subject: subject, key: key))
                #expect(page.messages.map(\.offset) == [offset])
                #expect(page.messages == documents.filter { $0.offset == offset })
            }
            let deadLetters = try #require(fixture.deadLetters()?.deadLetters)
            #expect(deadLetters.map(\.consumer) == ["error-notifier"])
            #expect(deadLetters.map(\.message.offset) == [25])
            let pages = ["command.", "event.", "error.", "document."].compactMap { fixture.read($0) }
            #expect(pages.flatMap(\.damaged).isEmpty)
            #expect(pages.flatMap(\.messages).map(\.offset).sorted() == Array(1...32))
            try fixture.tick(after: .seconds(6))
            let kept = fixture.documents().map(\.offset)
            #expect(kept == [20, 23, 27, 29], "whoever leased the others is gone")
        }
    }

    @Test("A consumer of the previous version can be removed, and starts again at the beginning")
    func forgotten() throws {
        try onJournal { fixture in
            // The owner may still be alive until the time of a lease (5 s) has passed.
            try fixture.tick(after: .seconds(6))
            #expect(fixture.ask(.forget("worker")) == .done)
            try fixture.restart()
            let claimed = try #require(fixture.claim("worker"))
            #expect(Set(claimed.offsets.values) == [0])
            #expect(claimed.ownerGeneration == 3)
        }
    }
}
