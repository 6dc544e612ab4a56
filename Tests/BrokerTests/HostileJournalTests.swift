import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("A journal with values that no broker writes")
struct HostileJournalTests {
    /// Text and bytes that cannot be read as numbers or text, and numbers with which arithmetic would overflow.
    private static let values = ["-1", "9223372036854775807", "9007199254740991", "'a text'", "x'ff'"]

    private static let tables = [
        "topics", "messages", "documents", "producers", "consumers", "shares", "progress", "members", "letters",
        "cut_offs", "refusals", "displaced",
    ]

    @Test("A journal with a hostile value is read, or refused in one line", .timeLimit(.minutes(3)))
    func sweep() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(3600), size: 4096) }) { fixture in
            try fill(fixture)
            let valid = try fixture.copy()
            let columns = try valid.read { database in
                try Self.tables.flatMap { table in
                    try Row.fetchAll(database, sql: "PRAGMA table_info(\(table))").map {
                        "\(table) SET \($0["name"] as String)"
                    }
                }
            }
            let empty = try valid.read { database in
                try Self.tables.filter { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") == 0 }
            }
            #expect(empty == [])
            let keys = ["epoch", "pruned", "forgotten", "saved", "marks", "start"]
            let updates =
                columns.map { (change: $0, place: "") } + keys.map { ("journal SET value", " WHERE key = '\($0)'") }
            var refusals = 0
            for (change, place) in updates {
                for value in Self.values {
                    try fixture.putBack(valid)
                    let sql = "UPDATE OR IGNORE \(change) = \(value)\(place)"
                    do {
                        try fixture.execute("PRAGMA ignore_check_constraints = ON; \(sql)")
                    } catch is DatabaseError {
                        continue
                    }
                    do {
                        try fixture.restart()
                        try use(fixture)
                    } catch let error as BusError {
                        refusals += 1
                        #expect(error.code == .journal && error.message.contains(fixture.path), "\(sql)")
                        #expect(!error.message.contains("\n"), "\(sql): \(error.message)")
                    }
                }
            }
            #expect(refusals > 50)
        }
    }

    @Test(
        "The error names the column and the value",
        arguments: [
            ("topics SET head = -5", "a row has -5 as its 'head' instead of a number from 0 to 9007199254740991"),
            ("documents SET key = x'ff'", "a row has bytes as its 'key' instead of another type"),
            ("journal SET value = 0 WHERE key = 'epoch'", "the epoch is not a positive number"),
            ("messages SET time = 9223372036854775807", "a row has 9223372036854775807 as its 'time' instead of"),
        ])
    func place(change: String, reason: String) throws {
        try Fixture.run { fixture in
            try fill(fixture)
            try fixture.execute("UPDATE \(change)")
            let error = #expect(throws: BusError.self) {
                try fixture.restart()
                try use(fixture)
            }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    /// Writes at least one row to each table.
    private func fill(_ fixture: Fixture) throws {
        _ = fixture.publish(sequence: 1, ["A", "A"])
        _ = fixture.publish(sequence: 2, ["D"], kind: .document, isLeased: true)
        _ = fixture.claim("old")
        _ = fixture.ask(.forget("old"))
        _ = fixture.claim("music")
        let claim = try #require(fixture.claim("music"))
        _ = fixture.publish(
            sequence: 3, ["B"], checkpoint: fixture.checkpoint("music", owner: claim.ownerGeneration, offset: 1),
            rejection: RejectionFrame(attempts: 1, code: "a", reason: "b"))
        _ = fixture.claim("shared", as: .shared, by: fixture.producer)
        _ = fixture.publish(sequence: 4, ["B"], settling: [99])
        _ = fixture.publish(sequence: 5, ["B"])
        try fixture.execute("INSERT INTO cut_offs VALUES ('music', 'event.A', 0, 1, 1, 1)")
        try fixture.restart()
    }

    /// Sends requests that read all tables and write some, and lets the broker do its maintenance.
    private func use(_ fixture: Fixture) throws {
        _ = fixture.ask(.hello(Greeting(producer: fixture.producer, asksForMore: true)))
        _ = fixture.read()
        _ = try fixture.document("D")
        _ = fixture.documents()
        _ = try fixture.documents("D", after: 0)
        _ = fixture.deadLetters()
        _ = fixture.consumers()
        _ = fixture.ask(.count(PageRequest(epoch: 0, after: 0, prefixes: ["event.A."])))
        _ = fixture.ask(.locate(UInt64(fixture.time)))
        _ = fixture.publish(sequence: 1, ["A", "A"])
        _ = fixture.publish(sequence: 4, ["B"], settling: [99])
        _ = fixture.publish(sequence: 6, ["A"])
        let claim = fixture.claim("music")
        _ = fixture.publish(
            sequence: 7, [],
            checkpoint: fixture.checkpoint("music", owner: claim?.ownerGeneration ?? 1, offset: 2),
            rejection: RejectionFrame(attempts: 1, code: "a", reason: "b"))
        _ = fixture.claim("shared", as: .shared)
        try fixture.tick(after: .seconds(7))
        var outgoing = Outgoing()
        _ = fixture.engine.prune(now: fixture.now, into: &outgoing)
        _ = fixture.ask(.bye(Greeting(producer: fixture.producer)))
        _ = fixture.ask(.forget("music"))
        try fixture.tick()
    }
}
