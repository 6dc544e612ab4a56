import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Counting messages")
struct CountTests {
    private static func count(_ filters: [String], after offset: UInt64 = 0, in fixture: Fixture) -> UInt64? {
        let request = PageRequest(epoch: fixture.journal.epoch, after: offset, prefixes: filters)
        guard case .counted(fixture.journal.epoch, let count) = fixture.ask(.count(request)) else { return nil }
        return count
    }

    /// The number of messages on pages of the journal.
    private static func scanned(_ filters: [String], after offset: UInt64, in fixture: Fixture) throws -> UInt64 {
        let request = PageRequest(epoch: 0, after: offset, prefixes: filters)
        guard case .page(let page) = fixture.ask(.read(request)) else { return 0 }
        try #require(page.isComplete)
        return UInt64(page.messages.count)
    }

    @Test("The count equals the number of messages on the pages, for each start and filter")
    func scan() throws {
        try Fixture.run { fixture in
            let names = ["A", "B", "A", "C", "A", "B"]
            let subjects = (0..<6).map { "session-\($0)" }
            let messages = (0..<60).map { Fixture.message(names[$0 % 6], subject: subjects[$0 % 5]) }
            _ = fixture.ask(.publish(PublishRequest(producer: fixture.producer, sequence: 1, messages: messages)))
            let topic = try #require(messages.first?.topic)
            for filters in [
                [], ["event."], ["event.A."], ["event.A.", "event.C."], [topic], ["event.", topic], ["command."],
            ] {
                for offset in 0...60 as ClosedRange<UInt64> {
                    let expected = try Self.scanned(filters, after: offset, in: fixture)
                    #expect(Self.count(filters, after: offset, in: fixture) == expected, "\(filters), \(offset)")
                }
            }
            #expect(Self.count(["event.A."], after: 61, in: fixture) == 0)
            try fixture.restart()
            #expect(Self.count(["event.A."], in: fixture) == 30)
        }
    }

    @Test("A count after an offset of another journal counts the whole journal")
    func otherEpoch() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "A"])
            let request = PageRequest(epoch: fixture.journal.epoch ^ 1, after: 7, prefixes: ["event.A."])
            #expect(fixture.ask(.count(request)) == .counted(epoch: fixture.journal.epoch, count: 2))
        }
    }

    @Test("A count leaves out the messages that retention has removed")
    func retention() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "A"])
            fixture.now = fixture.now.advanced(by: .seconds(70))
            var outgoing = Outgoing()
            while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
            _ = fixture.publish(sequence: 2, ["A", "B"])
            #expect(Self.count(["event.A."], in: fixture) == 1)
            #expect(Self.count(["event."], in: fixture) == 2)
        }
    }

    @Test("A count stops at a row whose previous offset is damaged")
    func damage() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "B", "A"])
            try fixture.execute("UPDATE messages SET previous = 4 WHERE offset = 2")
            #expect(Self.count(["event.A."], in: fixture) == 2)
            try fixture.execute("UPDATE messages SET previous = -1 WHERE offset = 4")
            #expect(Self.count(["event.A."], in: fixture) == 1)
        }
    }

    @Test("A count uses the primary key of the messages, so its cost depends only on their number")
    func cost() throws {
        try Fixture.run { fixture in
            let plan = try fixture.journal.read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(MessageTable.linkSQL)", arguments: [1])
                    .map { $0["detail"] as String }
            }
            #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH messages USING INTEGER PRIMARY KEY"), "\(plan)")
        }
    }
}
