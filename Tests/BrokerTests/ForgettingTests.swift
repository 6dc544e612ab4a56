import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Removal of a durable consumer")
struct ForgettingTests {
    @Test("The list has every consumer with its position and its members, also after a restart")
    func list() throws {
        try Fixture.run { fixture in
            #expect(fixture.consumers()?.isEmpty == true)
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("b")
            for _ in 1...2 { _ = fixture.claim("a", as: .shared) }
            _ = fixture.publish(sequence: 2, [], checkpoint: fixture.checkpoint("b", owner: 1, offset: 1))
            let expected = [
                ConsumerList.Entry(name: "a", position: 0, memberCount: 2),
                ConsumerList.Entry(name: "b", position: 1, memberCount: 0),
            ]
            #expect(fixture.consumers() == expected)
            try fixture.restart()
            #expect(fixture.consumers() == expected)
            let whole = ConsumerList(epoch: fixture.journal.epoch, head: 2, consumers: expected)
            #expect(fixture.ask(.consumers) == .consumers(whole))
        }
    }

    @Test("A removed consumer leaves only its dead letters, also after a restart")
    func rows() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            let member = ConsumerMember.exclusive
            for member in [.exclusive, member] { _ = fixture.claim("old", as: member) }
            _ = fixture.claim("kept")
            _ = fixture.publish(
                sequence: 2, [], checkpoint: fixture.checkpoint("old", owner: 2, offset: 1),
                rejection: RejectionFrame(attempts: 1, code: "old.failed", reason: "no"))
            try fixture.execute("INSERT INTO cut_offs VALUES ('old', 'event.A', 0, 1, 1, 1)")
            #expect(try Self.rows(of: "old", fixture) > 0)
            _ = fixture.claim("old", as: member, isLeaving: true)
            #expect(fixture.ask(.forget("old")) == .done)
            #expect(try Self.rows(of: "old", fixture) == 0)
            #expect(fixture.deadLetters(of: "old")?.deadLetters.count == 1)
            #expect(fixture.consumers()?.map(\.name) == ["kept"])
            try fixture.restart()
            #expect(fixture.consumers()?.map(\.name) == ["kept"])
            #expect(fixture.ask(.forget("old")) == .done, "there is none any more")
        }
    }

    private static func rows(of name: String, _ fixture: Fixture) throws -> Int {
        let tables = [
            ("consumers", "name"), ("shares", "consumer"), ("progress", "consumer"), ("members", "consumer"),
            ("displaced", "consumer"), ("cut_offs", "consumer"),
        ]
        return try fixture.journal.read { database in
            try tables.reduce(0) { count, table in
                let sql = "SELECT count(*) FROM \(table.0) WHERE \(table.1) = ?"
                return count + (try Int.fetchOne(database, sql: sql, arguments: [name]) ?? 0)
            }
        }
    }

    @Test("A shared consumer cannot be removed until its last member has left or is silent")
    func shared() throws {
        try Fixture.run { fixture in
            _ = fixture.claim("music", as: .shared)
            let refusal = ProtocolError(
                .malformed, "processes share the durable consumer 'music'; stop them first")
            #expect(fixture.ask(.forget("music")) == .refused(refusal))
            #expect(fixture.consumers()?.map(\.name) == ["music"])
            try fixture.tick(after: .seconds(6))
            #expect(fixture.ask(.forget("music")) == .done)
            #expect(fixture.consumers()?.isEmpty == true)
        }
    }

    private static let isRun = Reply.refused(
        ProtocolError(.malformed, "a process runs the durable consumer 'music'; stop it first"))

    @Test("An exclusive consumer cannot be removed until its owner has left, ended or is silent")
    func owned() throws {
        for ending in 0..<3 {
            try Fixture.run { fixture in
                let (owner, member) = (ProducerID(), ConsumerMember.exclusive)
                _ = fixture.claim("music", by: ProducerID())
                _ = fixture.claim("music", as: member, by: owner)
                for _ in 1...3 {
                    try fixture.tick(after: .seconds(4))
                    _ = fixture.ask(.hello(Greeting(producer: owner)))
                    #expect(fixture.ask(.forget("music")) == Self.isRun)
                }
                switch ending {
                case 0: _ = fixture.claim("music", as: member, by: owner, isLeaving: true)
                case 1: _ = fixture.ask(.bye(Greeting(producer: owner)))
                default: try fixture.tick(after: .seconds(6))
                }
                // A reader may send renewals even after its member has left.
                if ending == 0 { _ = fixture.claim("music", as: member, by: owner, isRenewal: true) }
                #expect(fixture.ask(.forget("music")) == .done)
                #expect(fixture.consumers()?.isEmpty == true)
            }
        }
    }

    @Test(
        "A restarted broker waits for one lease before an exclusive consumer can be removed", arguments: [true, false])
    func ownedAfterRestart(isAlive: Bool) throws {
        try Fixture.run { fixture in
            let (owner, member) = (ProducerID(), ConsumerMember.exclusive)
            _ = fixture.claim("music", as: member, by: owner)
            try fixture.restart()
            guard case .refused(let error) = fixture.ask(.forget("music")) else {
                Issue.record("the owner may live")
                return
            }
            #expect(error.code == .malformed)
            #expect(error.message.contains("'music'; try again after 5 s"))
            for _ in 1...6 {
                try fixture.tick(after: .seconds(1))
                if isAlive { _ = fixture.claim("music", as: member, by: owner, isRenewal: true) }
            }
            #expect(fixture.ask(.forget("music")) == (isAlive ? Self.isRun : .done))
        }
    }

    @Test("A displaced owner that is alive does not prevent the removal of its successor's consumer")
    func displaced() throws {
        try Fixture.run { fixture in
            let (old, new) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
            _ = fixture.claim("music", as: old, by: fixture.producer)
            _ = fixture.claim("music", as: new)
            _ = fixture.claim("music", as: old, by: fixture.producer, isRenewal: true)
            _ = fixture.claim("music", as: old, by: fixture.producer, isLeaving: true)
            #expect(fixture.ask(.forget("music")) == Self.isRun)
            _ = fixture.claim("music", as: new, isLeaving: true)
            #expect(fixture.ask(.forget("music")) == .done)
        }
    }

    @Test(
        "A consumer that is claimed after its removal starts at the beginning of the journal", arguments: [true, false])
    func claimedAgain(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            let member = ConsumerMember.exclusive
            _ = fixture.claim("music", as: member)
            _ = fixture.publish(sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 2))
            _ = fixture.claim("music", as: member, isLeaving: true)
            #expect(fixture.ask(.forget("music")) == .done)
            if isRestarted { try fixture.restart() }
            #expect(fixture.claim("music", as: member, isRenewal: true)?.offsets.isEmpty == true)
            let claimed = try #require(fixture.claim("music"))
            #expect(claimed.offsets.count == Partition.count)
            #expect(Set(claimed.offsets.values) == [0])
            #expect(claimed.ownerGeneration == 2, "owner generations go on, so that the old owner stays fenced")
            let late = fixture.publish(sequence: 3, ["B"], checkpoint: fixture.checkpoint("music", owner: 1, offset: 2))
            #expect(
                late == .refused(ProtocolError(.fenced, "another process has taken over the durable consumer 'music'")))
        }
    }

    @Test("A removed consumer no longer delays retention")
    func retention() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            let member = ConsumerMember.exclusive
            _ = fixture.claim("gone", as: member)
            fixture.now += .seconds(120)
            _ = fixture.publish(sequence: 2, ["A"])
            func prune() {
                var outgoing = Outgoing()
                while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
            }
            prune()
            #expect(fixture.read()?.messages.map(\.offset) == [1, 2, 3, 4])
            _ = fixture.claim("gone", as: member, isLeaving: true)
            #expect(fixture.ask(.forget("gone")) == .done)
            prune()
            #expect(fixture.read()?.messages.map(\.offset) == [4])
        }
    }
}
