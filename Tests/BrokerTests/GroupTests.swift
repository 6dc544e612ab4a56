import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Durable consumers in the broker")
struct GroupTests {
    private static let foreignCheckpoint =
        "the checkpoint of the durable consumer 'music' is for another journal, or beyond the end of this one"

    @Test("A batch of a fenced owner is refused whole, without progress or messages")
    func fencing() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            #expect(fixture.claim("music")?.ownerGeneration == 1)
            #expect(fixture.claim("music")?.ownerGeneration == 2)
            let late = fixture.publish(sequence: 2, ["B"], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1))
            #expect(
                late == .refused(ProtocolError(.fenced, "another process has taken over the durable consumer 'music'")))
            #expect(fixture.journal.head == 3)
            let newest = fixture.publish(
                sequence: 3, ["B"], checkpoint: fixture.checkpoint("music", owner: 2, offset: 2))
            #expect(newest == fixture.published(4))
            let offsets = try #require(fixture.claim("music")?.offsets)
            #expect(offsets.count == Partition.count)
            #expect(Set(offsets.values) == [2])
        }
    }

    @Test("An exclusive member that leaves keeps its partitions until another member claims")
    func exclusiveLeave() throws {
        try Fixture.run { fixture in
            let member = ConsumerMember(.exclusive)
            _ = fixture.publish(sequence: 1, ["A"])
            let claimed = try #require(fixture.claim("music", as: member))
            #expect(
                fixture.claim("music", as: member, isLeaving: true)?.ownerGeneration == 0,
                "it is told that it owns nothing")
            let progress = fixture.checkpoint("music", owner: claimed.ownerGeneration, offset: 1)
            #expect(fixture.publish(sequence: 2, [], checkpoint: progress) == fixture.published(1))
            #expect(fixture.claim("music", as: member, isRenewal: true)?.ownerGeneration == claimed.ownerGeneration)
        }
    }

    @Test(
        "A new consumer starts at the end when it records the journal's end for all partitions",
        arguments: [true, false])
    func beginNow(isShared: Bool) throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "C"])
            let member = ConsumerMember(isShared ? .shared : .exclusive)
            let claimed = try #require(fixture.claim("music", as: member))
            #expect(Set(claimed.offsets.values) == [0])
            let end = fixture.checkpoint("music", owner: claimed.ownerGeneration, offset: 3)
            #expect(fixture.publish(sequence: 2, [], checkpoint: end) == fixture.published(3))
            let again = try #require(fixture.claim("music", as: member))
            #expect(again.ownerGeneration == claimed.ownerGeneration)
            #expect(Array(again.offsets.values) == Array(repeating: 3, count: Partition.count))
        }
    }

    @Test("A checkpoint of all partitions ignores the field 'settled'")
    func settledOfAll() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "C"])
            let member = ConsumerMember.exclusive
            let claimed = try #require(fixture.claim("music", as: member))
            let all = fixture.checkpoint("music", owner: claimed.ownerGeneration, offset: 2, settled: 1)
            #expect(fixture.publish(sequence: 2, [], checkpoint: all) == fixture.published(3))
            #expect(Set(try #require(fixture.claim("music", as: member)).offsets.values) == [2])
        }
    }

    @Test("A silent exclusive member keeps its partitions until another member claims")
    func silentExclusiveMember() throws {
        try Fixture.run { fixture in
            let (member, producer) = (ConsumerMember.exclusive, ProducerID())
            let claimed = try #require(fixture.claim("music", as: member, by: producer))
            try fixture.tick(after: .seconds(60))
            _ = fixture.ask(.bye(Greeting(producer: producer)))
            #expect(fixture.claim("music", as: member, by: producer, isRenewal: true) == claimed)
            let successor = try #require(fixture.claim("music"))
            #expect(successor.offsets.count == Partition.count)
            let left = try #require(fixture.claim("music", as: member, by: producer, isRenewal: true))
            #expect(left.offsets.isEmpty)
        }
    }

    @Test("A claim that is sent twice counts once")
    func repeatedClaim() throws {
        try Fixture.run { fixture in
            let member = ConsumerMember.exclusive
            let first = fixture.claim("music", as: member)
            #expect(first != nil)
            #expect(fixture.claim("music", as: member) == first)
        }
    }

    @Test("A claim that arrives a second time does not take over from its successor", arguments: [true, false])
    func lateClaim(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            let (first, second) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
            _ = fixture.claim("music", as: first)
            let claimed = fixture.claim("music", as: second)
            if isRestarted { try fixture.restart() }
            let late = ClaimRequest(producer: ProducerID(), member: first, consumer: "music")
            let refusal = ProtocolError(.fenced, "another process has taken over the durable consumer 'music'")
            #expect(fixture.ask(.claim(late)) == .refused(refusal))
            #expect(fixture.claim("music", as: second, isRenewal: true) == claimed)
        }
    }

    @Test(
        "The member whose first claim comes last takes over, even if its process said hello before the owner's",
        arguments: [true, false])
    func lateFirstClaim(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            let (older, newer) = (ProducerID(), ProducerID())
            let (late, early) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.ask(.hello(Greeting(producer: older)))
            _ = fixture.ask(.hello(Greeting(producer: newer)))
            #expect(fixture.claim("music", as: early, by: newer)?.ownerGeneration == 1)
            if isRestarted { try fixture.restart() }
            let owned = try #require(fixture.claim("music", as: late, by: older))
            #expect(owned.ownerGeneration == 2)
            #expect(owned.offsets.count == Partition.count)

            let refusal = Reply.refused(
                ProtocolError(.fenced, "another process has taken over the durable consumer 'music'"))
            let repeated = ClaimRequest(producer: newer, member: early, consumer: "music")
            #expect(fixture.ask(.claim(repeated)) == refusal)
            let fenced = fixture.publish(
                sequence: 2, ["B"], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1))
            #expect(fenced == refusal)
            #expect(fixture.claim("music", as: late, by: older) == owned)
            let taken = fixture.publish(
                sequence: 3, ["B"], checkpoint: fixture.checkpoint("music", owner: 2, offset: 1))
            #expect(taken == fixture.published(2))
        }
    }

    @Test("A checkpoint beyond the end of the journal is refused as one of another journal")
    func checkpointBeyondHead() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            let reply = fixture.publish(sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 2))
            #expect(reply == .refused(ProtocolError(.epoch, Self.foreignCheckpoint)))
        }
    }

    @Test("A low watermark beyond the end of the journal is refused as one of another journal")
    func settledBeyondHead() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            for partition in [nil, Partition(subject: "default")] {
                let checkpoint = fixture.checkpoint("music", owner: 1, offset: 1, settled: 2, partition: partition)
                let reply = fixture.publish(sequence: partition == nil ? 2 : 3, [], checkpoint: checkpoint)
                #expect(reply == .refused(ProtocolError(.epoch, Self.foreignCheckpoint)))
            }
            #expect(fixture.consumers()?.map(\.position) == [0])
        }
    }

    @Test("A member that shares is fenced in the partitions that it has lost, and keeps the others")
    func sharing() throws {
        try Fixture.run { fixture in
            let (one, two) = (ConsumerMember.shared, ConsumerMember.shared)
            #expect(fixture.claim("music", as: one)?.offsets.count == 64)
            let second = try #require(fixture.claim("music", as: two))
            #expect(second.offsets.count == 32)
            let rest = try #require(fixture.claim("music", as: one, isRenewal: true))
            #expect(rest.offsets.count == 32)
            #expect(rest.ownerGeneration == 1, "what it keeps it keeps under its old owner generation")
            _ = fixture.publish(sequence: 1, ["A"])
            let lost = try #require(second.offsets.keys.first)
            let fenced = fixture.publish(
                sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1, partition: lost))
            #expect(
                fenced
                    == .refused(ProtocolError(.fenced, "another process has taken over the durable consumer 'music'")))
            let kept = try #require(rest.offsets.keys.first)
            let taken = fixture.publish(
                sequence: 3, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1, partition: kept))
            #expect(taken == fixture.published(1))
        }
    }

    @Test("The results of a message are recorded once, even if they are published in two batches")
    func handledTwice() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("music")
            let partition = Partition(subject: "default")
            for _ in 1...2 {
                let first = fixture.checkpoint("music", owner: 1, offset: 1, settled: 0, partition: partition)
                for sequence in 2...3 as ClosedRange<UInt64> {
                    let reply = fixture.publish(sequence: sequence, ["B"], checkpoint: first)
                    #expect(reply == fixture.published(3))
                }
                try fixture.restart()
            }
            let other = Partition.all.first { $0 != partition }
            let second = fixture.checkpoint("music", owner: 1, offset: 1, partition: other)
            #expect(fixture.publish(sequence: 4, ["B"], checkpoint: second) == fixture.published(4))
            _ = fixture.claim("music")
            let late = fixture.checkpoint("music", owner: 1, offset: 1, partition: partition)
            guard case .refused(let error) = fixture.publish(sequence: 5, ["B"], checkpoint: late) else {
                Issue.record("whoever was taken over is told so")
                return
            }
            #expect(error.code == .fenced)
        }
    }

    @Test("A member leaves when it is silent for longer than a lease, or at once when it says good-bye")
    func leaving() throws {
        try Fixture.run { fixture in
            let (one, two, three) = (ConsumerMember.shared, ConsumerMember.shared, ConsumerMember.shared)
            let (silent, polite) = (ProducerID(), ProducerID())
            _ = fixture.claim("music", as: one, by: fixture.producer)
            _ = fixture.claim("music", as: two, by: silent)
            _ = fixture.claim("music", as: three, by: polite)
            _ = fixture.ask(.bye(Greeting(producer: polite)))
            #expect(fixture.claim("music", as: three, isRenewal: true)?.offsets.isEmpty == true)
            try fixture.tick(after: .seconds(4))
            _ = fixture.claim("music", as: one, by: fixture.producer, isRenewal: true)
            try fixture.tick(after: .seconds(2))
            let renewed = try #require(fixture.claim("music", as: one, by: fixture.producer, isRenewal: true))
            #expect(renewed.offsets.count == 64)
            #expect(renewed.ownerGeneration == 0, "what it gained must be claimed")
            #expect(fixture.claim("music", as: two, by: silent, isRenewal: true)?.offsets.isEmpty == true)
        }
    }

    @Test("A restarted broker knows owners and positions, and waits for the members for one lease")
    func restart() throws {
        try Fixture.run { fixture in
            let (one, two) = (ConsumerMember.shared, ConsumerMember.shared)
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("music", as: one)
            _ = fixture.claim("music", as: two)
            let claimed = try #require(fixture.claim("music", as: one))
            _ = fixture.publish(
                sequence: 2, [],
                checkpoint: fixture.checkpoint(
                    "music", owner: claimed.ownerGeneration, offset: 2, partition: claimed.offsets.keys.first))
            let owned = [one, two].map { fixture.claim("music", as: $0, isRenewal: true) }
            try fixture.restart()
            let ownedLater = [one, two].map { fixture.claim("music", as: $0, isRenewal: true) }
            #expect(ownedLater == owned)
            try fixture.tick(after: .seconds(4))
            #expect(fixture.claim("music", as: one, isRenewal: true)?.offsets.count == 32)
            try fixture.tick(after: .seconds(2))
            #expect(fixture.claim("music", as: one, isRenewal: true)?.offsets.isEmpty == true)
        }
    }

    @Test("A consumer has at most 256 shared members, and one more is refused until another has left")
    func capacity() throws {
        try Fixture.run { fixture in
            let members = (1...256).map { _ in ConsumerMember.shared }
            _ = fixture.claim("music", as: members[0], by: fixture.producer)
            // 254 claims would take long, because each claim distributes the partitions again.
            let rows = members[1..<255].map { "('music', '\($0.id.uuidString)', zeroblob(16))" }
            try fixture.execute("INSERT INTO members VALUES \(rows.joined(separator: ", "))")
            try fixture.restart()
            #expect(fixture.claim("music", as: members[255], by: fixture.producer) != nil)
            let another = ConsumerMember.shared
            let request = ClaimRequest(producer: fixture.producer, member: another, consumer: "music")
            let refusal = ProtocolError(
                .tooLarge, "256 members share the durable consumer 'music' already; let one of them leave first")
            #expect(fixture.ask(.claim(request)) == .refused(refusal))
            #expect(fixture.consumers()?.map(\.memberCount) == [256])
            let count = try fixture.journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM members") }
            #expect(count == 256)
            #expect(fixture.claim("music", as: members[1], by: fixture.producer) != nil)
            #expect(fixture.claim("other", as: another, by: fixture.producer) != nil)
            #expect(fixture.claim("music", as: members[0], isLeaving: true) != nil)
            #expect(fixture.claim("music", as: another, by: fixture.producer) != nil)
            #expect(fixture.claim("music", as: .exclusive) != nil, "who takes all over is one")
        }
    }

    @Test("A member that leaves hands over its partitions although its producer is alive, also after a restart")
    func leavingAlone() throws {
        try Fixture.run { fixture in
            let (one, two) = (ConsumerMember.shared, ConsumerMember.shared)
            for member in [one, two, one] { _ = fixture.claim("music", as: member, by: fixture.producer) }
            #expect(fixture.claim("music", as: two, by: fixture.producer, isLeaving: true)?.offsets.isEmpty == true)
            try fixture.restart()
            let rest = try #require(fixture.claim("music", as: one, by: fixture.producer))
            #expect(rest.offsets.count == Partition.count)
            let members = try fixture.journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM members") }
            #expect(members == 1)
            // A leave may be repeated, and the consumer may not exist.
            for name in ["music", "nobody"] {
                #expect(fixture.claim(name, as: two, isLeaving: true)?.offsets.isEmpty == true)
            }
            #expect(fixture.journal.consumers.rows.keys.sorted() == ["music"])
        }
    }

    @Test("A checkpoint writes one row of progress, and one without progress writes none")
    func oneRow() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            _ = fixture.claim("music")
            func rows() throws -> [[String]] {
                try DatabaseQueue(path: fixture.path).read { database in
                    try Row.fetchAll(database, sql: "SELECT consumer, owner_epoch, offset FROM progress").map {
                        [$0[0] as String, "\($0[1] as Int)", "\($0[2] as Int)"]
                    }
                }
            }
            let partition = Partition(0)
            let guarding = fixture.checkpoint(
                "music", owner: 1, offset: 0, settled: 3, partition: partition, previous: 0)
            _ = fixture.publish(sequence: 2, [], checkpoint: guarding)
            let none = try rows()
            #expect(none.isEmpty)
            for offset in 1...3 {
                _ = fixture.publish(
                    sequence: UInt64(offset) + 2, [],
                    checkpoint: fixture.checkpoint("music", owner: 1, offset: UInt64(offset)))
            }
            let recorded = try rows()
            #expect(recorded == [["music", "1", "3"]])
        }
    }

    @Test(
        "A message before an earlier one of another partition counts for its own partition only")
    func settled() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            _ = fixture.claim("music")
            let partition = Partition(subject: "default")
            _ = fixture.publish(
                sequence: 2, [],
                checkpoint: fixture.checkpoint("music", owner: 1, offset: 3, settled: 1, partition: partition))
            try fixture.restart()
            let offsets = try #require(fixture.claim("music")?.offsets)
            #expect(offsets[partition] == 3)
            #expect(Set(offsets.filter { $0.key != partition }.values) == [1])
        }
    }
}
