import BusFormat
import BusProtocol
import EventBus
import GRDB
import Testing

@testable import Broker

@Suite("Tables that are derived from the last messages of the journal")
struct JournalTailTests {
    private func savedThrough(_ fixture: Fixture) throws -> UInt64 {
        try fixture.journal.read { database in
            UInt64(try Int64.fetchOne(database, sql: "SELECT value FROM journal WHERE key = 'saved'") ?? -1)
        }
    }

    /// Publishes random batches of several producers. Some batches have no messages, and some are refused.
    private func publish(_ fixture: Fixture, count: Int) -> [ProducerID: UInt64] {
        let producers = (0..<4).map { _ in ProducerID() }
        var sequences: [ProducerID: UInt64] = [:]
        for number in 0..<count {
            let producer = producers[number % producers.count]
            let sequence = (sequences[producer] ?? 0) + 1
            let names = (0..<number % 5).map { ["A", "B", "C"][(number + $0) % 3] }
            let batch = PublishRequest(
                producer: producer, sequence: sequence, resolvedDeadLetters: number % 7 == 6 ? [99] : [],
                messages: names.map { Fixture.message($0, subject: "s\(number % 3)") })
            _ = fixture.ask(.publish(batch))
            sequences[producer] = sequence
        }
        return sequences
    }

    @Test(
        "Topics, partitions and producers are restored from the last messages after a restart",
        arguments: [1, 10, 37, 200])
    func restart(count: Int) throws {
        try Fixture.run { fixture in
            let sequences = publish(fixture, count: count)
            let (head, before) = (fixture.journal.head, fixture.journal)
            let topics = Dictionary(uniqueKeysWithValues: before.topics.entries.map { ($0.name, $0.head) })
            try fixture.restart()
            let journal = fixture.journal
            #expect(journal.head == head)
            #expect(Dictionary(uniqueKeysWithValues: journal.topics.entries.map { ($0.name, $0.head) }) == topics)
            for partition in Partition.all {
                #expect(journal.topics.head(of: partition) == before.topics.head(of: partition))
            }
            #expect(journal.producers.rows.mapValues(\.sequence) == sequences)
            #expect(journal.producers.rows.mapValues(\.offset) == before.producers.rows.mapValues(\.offset))
        }
    }

    @Test("A batch does not write the tables of topics and producers")
    func cost() throws {
        try Fixture.run { fixture in
            for sequence in 1...20 as ClosedRange<UInt64> {
                #expect(fixture.publish(sequence: sequence, ["A"]) == fixture.published(sequence))
            }
            #expect(try savedThrough(fixture) == 0)
            try fixture.restart()
            #expect(fixture.publish(sequence: 20, ["A"]) == fixture.published(20), "it was taken before")
            #expect(fixture.publish(sequence: 21, ["A"]) == fixture.published(21))
            #expect(fixture.read()?.messages.last?.previous == 20)
        }
    }

    @Test("The tables are saved after at most 4,096 messages")
    func bound() throws {
        try Fixture.run { fixture in
            for sequence in 1...9 as ClosedRange<UInt64> {
                _ = fixture.publish(sequence: sequence, Array(repeating: "A", count: 1000))
                let saved = try savedThrough(fixture)
                #expect(fixture.journal.head - saved < 4096)
            }
            #expect(try savedThrough(fixture) > 0)
        }
    }

    @Test("The tables are saved before retention, and by a batch without messages")
    func withoutMessages() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(1), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B"])
            #expect(try savedThrough(fixture) == 0)
            _ = fixture.publish(sequence: 2, [])
            #expect(try savedThrough(fixture) == 2)
            _ = fixture.publish(sequence: 3, ["A"])
            fixture.now = fixture.now.advanced(by: .seconds(60))
            var outgoing = Outgoing()
            while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
            #expect(fixture.read()?.messages.isEmpty == true)
            try fixture.restart()
            #expect(fixture.publish(sequence: 3, ["A"]) == fixture.published(3), "it was taken before")
            #expect(fixture.publish(sequence: 4, ["A"]) == fixture.published(4))
            #expect(fixture.lastFeed.first?.previous == 3)
        }
    }
}

@Suite("A journal whose next transaction is open")
struct PreparedJournalTests {
    @Test("Another connection can read a journal that is in use, and cannot write to it")
    func otherConnections() throws {
        try Fixture.run { fixture in
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(1))
            fixture.journal.prepare()
            let other = try DatabaseQueue(path: fixture.path)
            #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages") } == 1)
            let error = #expect(throws: DatabaseError.self) {
                try other.write { try $0.execute(sql: "DELETE FROM messages") }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(fixture.publish(sequence: 2, ["A"]) == fixture.published(2))
        }
    }

    @Test("A journal with an open transaction closes, and has all messages when it is opened again")
    func closing() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            // This is repeated, because a use of freed memory does not always fail.
            for count in 1...200 {
                let journal = try Journal(path: path)
                #expect(journal.head == UInt64(count - 1))
                var feed: [FeedMessage] = []
                try journal.transaction(at: 1) { try $0.append(Fixture.message("A"), to: &feed) }
                journal.prepare()
            }
        }
    }
}

@Suite("Checksums")
struct ChecksumTests {
    @Test(
        "The checksums equal the published test vectors of XXH64",
        arguments: [
            ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999),
            ("Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1),
        ] as [(String, UInt64)])
    func vectors(text: String, hash: UInt64) {
        let bytes = Array(text.utf8)
        let own = bytes.withUnsafeBytes { XXH64.hash($0) }
        #expect(own == hash)
    }
}
