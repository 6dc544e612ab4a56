import BusFormat
import BusProtocol
import EventBus
import Foundation
import Testing

@testable import Broker

@Suite("Retention")
struct RetentionTests {
    /// Runs retention until there is nothing more to remove.
    /// - Returns: The messages that the broker published meanwhile.
    @discardableResult
    private func prune(_ fixture: Fixture, after duration: Duration = .zero) -> [FeedMessage] {
        fixture.now = fixture.now.advanced(by: duration)
        var outgoing = Outgoing()
        while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
        return outgoing.feed
    }

    private func fill(_ fixture: Fixture, _ sequences: ClosedRange<UInt64>, size: Int = 1000) {
        for sequence in sequences {
            let messages = (0..<100).map { Fixture.message($0 % 2 == 0 ? "A" : "B", size: size) }
            _ = fixture.ask(
                .publish(PublishRequest(producer: fixture.producer, sequence: sequence, messages: messages)))
        }
    }

    @Sendable
    private static func describe(_ notice: BusNotice) -> Envelope? {
        let type = MessageType(kind: .error, name: "ApplicationError")
        let attributes = Attributes(type: type, source: "broker/1", subject: notice.code.rawValue)
        return Envelope(attributes: attributes, data: Data("{}".utf8))
    }

    @Test("Retention removes old messages, and keeps new ones and retained documents")
    func age() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["Screen"], kind: .document)
            _ = fixture.publish(sequence: 2, ["A", "A"])
            prune(fixture, after: .seconds(50))
            #expect(fixture.read()?.messages.map(\.offset) == [2, 3])
            _ = fixture.publish(sequence: 3, ["B"])
            prune(fixture, after: .seconds(20))
            #expect(fixture.read()?.messages.map(\.offset) == [4])
            #expect(fixture.documents().map(\.offset) == [1])
            try fixture.restart()
            #expect(fixture.journal.pruned == 3)
            #expect(fixture.publish(sequence: 4, ["A"]) == fixture.published(5))
            #expect(fixture.lastFeed.map(\.previous) == [3], "the chain goes on")
        }
    }

    @Test("A clock that was set forward between two starts makes the earlier messages older")
    func clockSetForward() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["Screen"], kind: .document)
            _ = fixture.publish(sequence: 2, ["A", "A"])
            try fixture.restart(wallShift: .seconds(90))
            _ = fixture.publish(sequence: 3, ["B"])
            prune(fixture)
            #expect(fixture.read()?.messages.map(\.offset) == [4])
            #expect(fixture.documents().map(\.offset) == [1])
        }
    }

    @Test("A replaced document is removed when retention has passed it")
    func compaction() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["Screen"], kind: .document)
            prune(fixture, after: .seconds(70))
            #expect(fixture.read("document.")?.messages.map(\.offset) == [1])
            _ = fixture.publish(sequence: 2, ["Screen"], kind: .document)
            #expect(fixture.read("document.")?.messages.map(\.offset) == [2])
        }
    }

    @Test("Messages that a consumer has not handled are kept, however old they are")
    func consumers() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(60), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            _ = fixture.claim("music")
            _ = fixture.publish(sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1))
            prune(fixture, after: .seconds(120))
            #expect(fixture.read()?.messages.map(\.offset) == [2, 3])
        }
    }

    @Test(
        "A journal beyond its size drops the oldest messages, and reports to a consumer what it lost"
    )
    func size() throws {
        try Fixture.run({
            $0.retention = RetentionLimits(age: nil, size: 1 << 20)
            $0.describe = Self.describe
        }) { fixture in
            _ = fixture.claim("music")
            fill(fixture, 1...3)
            _ = fixture.publish(sequence: 4, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1))
            try fixture.tick()
            #expect(fixture.lastFeed.isEmpty)
            fill(fixture, 5...10)
            let warning = try fixture.tick()
            #expect(try warning.map { try $0.envelope().subject } == ["consumer.behind"])
            let again = try fixture.tick()
            #expect(again.isEmpty, "warned once")
            fill(fixture, 11...15)
            let cut = prune(fixture)
            #expect(try cut.map { try $0.envelope().subject } == ["consumer.cut-off"])
            let used = try fixture.usedSize()
            #expect(used <= 1 << 20)

            let left = try #require(fixture.read("event.")?.messages.first?.offset)
            let told = try #require(fixture.claim("music"))
            // The messages alternate between the two types; the first one was handled.
            #expect(
                told.cutOffs.map(\.type.name) == ["B", "A", "ApplicationError"], "the last is what it was warned with")
            #expect(told.cutOffs.reduce(0) { $0 + $1.count } == Int(left) - 2)
            #expect(told.cutOffs.map(\.offsets.lowerBound) == [2, 3, 901])
            try fixture.restart()
            let later = try #require(fixture.claim("music"))
            #expect(later.cutOffs == told.cutOffs, "until a checkpoint says that it is known")
            _ = fixture.publish(
                sequence: 16, [],
                checkpoint: fixture.checkpoint(
                    "music", owner: later.ownerGeneration, offset: 1, partition: Partition(0), previous: 1))
            let last = try #require(fixture.claim("music"))
            #expect(last.cutOffs == told.cutOffs, "one without progress does not")
            _ = fixture.publish(
                sequence: 17, [], checkpoint: fixture.checkpoint("music", owner: last.ownerGeneration, offset: left))
            #expect(fixture.claim("music")?.cutOffs == [])
        }
    }

    @Test("A consumer's loss is reported once until the consumer confirms it, also after a restart")
    func reportedOnce() throws {
        try Fixture.run({
            $0.retention = RetentionLimits(age: nil, size: 1 << 20)
            $0.describe = Self.describe
        }) { fixture in
            _ = fixture.claim("music")
            fill(fixture, 1...15)
            #expect(try prune(fixture).map { try $0.envelope().subject } == ["consumer.cut-off"])
            try fixture.restart()
            fill(fixture, 16...20)
            #expect(prune(fixture).isEmpty)
            let claim = try #require(fixture.claim("music"))
            _ = fixture.publish(
                sequence: 21, [], checkpoint: fixture.checkpoint("music", owner: claim.ownerGeneration, offset: 1))
            fill(fixture, 22...26)
            #expect(try prune(fixture).map { try $0.envelope().subject } == ["consumer.cut-off"])
        }
    }

    @Test("Documents and dead letters do not displace other messages")
    func kept() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: nil, size: 1 << 20) }) { fixture in
            fill(fixture, 1...1)
            let documents = (0..<20).map { Fixture.message("Large", kind: .document, key: "\($0)", size: 100_000) }
            _ = fixture.ask(.publish(PublishRequest(producer: fixture.producer, sequence: 2, messages: documents)))
            prune(fixture)
            #expect(fixture.read()?.messages.count == 100)
            _ = fixture.claim("music")
            let large = (0..<20).map { _ in Fixture.message("A", size: 100_000) }
            _ = fixture.ask(.publish(PublishRequest(producer: fixture.producer, sequence: 3, messages: large)))
            for offset in 121...UInt64(140) {
                _ = fixture.publish(
                    sequence: offset - 117, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: offset),
                    rejection: RejectionFrame(attempts: 1, code: "a", reason: "b"))
            }
            prune(fixture, after: .seconds(20))
            let left = fixture.journal.head - fixture.journal.pruned
            #expect(left > 5 && left < 20, "\(left) of the large messages are left: those beyond the size are gone")
            #expect(fixture.documents().isEmpty == false)
            #expect(fixture.deadLetters()?.deadLetters.isEmpty == false)
        }
    }

    @Test("The journal stays near its size limit under load")
    func load() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: nil, size: 1 << 20) }) { fixture in
            fill(fixture, 1...40)
            var outgoing = Outgoing()
            #expect(fixture.engine.prune(now: fixture.now, into: &outgoing), "there is more than one step takes")
            for sequence in 41...UInt64(140) {
                fill(fixture, sequence...sequence)
            }
            let used = try fixture.usedSize()
            #expect(used < 2 << 20)
        }
    }

    @Test("A size is a number of bytes, or a number with a unit such as GiB")
    func texts() {
        #expect(RetainedSize("1GiB")?.bytes == 1 << 30)
        #expect(RetainedSize("4096")?.bytes == 4096)
        for text in ["", "GiB", "-1", "1GB", "9223372036854775807GiB"] {
            #expect(RetainedSize(text) == nil)
        }
    }

    @Test("A time is found among the offsets, even if the clock was set back between two starts")
    func locateAfterSettingBack() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B"])
            let first = UInt64(fixture.time)
            try fixture.restart(wallShift: .seconds(-30 * 24 * 3600))
            fixture.now = fixture.now.advanced(by: .seconds(10))
            _ = fixture.publish(sequence: 2, Array(repeating: "A", count: 20))
            #expect(fixture.ask(.locate(first)) == .located(epoch: fixture.journal.epoch, offset: 0))
            #expect(fixture.ask(.locate(first + 5000)) == .located(epoch: fixture.journal.epoch, offset: 2))
        }
    }

    @Test("A time is found among the offsets")
    func locate() throws {
        try Fixture.run { fixture in
            var times: [UInt64] = []
            for sequence in 1...20 {
                _ = fixture.publish(sequence: UInt64(sequence), ["A"])
                times.append(UInt64(fixture.time))
                fixture.now = fixture.now.advanced(by: .seconds(1))
            }
            for (index, time) in times.enumerated() {
                #expect(fixture.ask(.locate(time)) == .located(epoch: fixture.journal.epoch, offset: UInt64(index)))
                #expect(
                    fixture.ask(.locate(time + 1)) == .located(epoch: fixture.journal.epoch, offset: UInt64(index) + 1))
            }
            #expect(fixture.ask(.locate(0)) == .located(epoch: fixture.journal.epoch, offset: 0))
        }
    }
}

extension Fixture {
    /// The used bytes of the journal, which has no documents and no dead letters.
    fileprivate func usedSize() throws -> Int {
        try journal.usedSize(limit: .max, at: 0)
    }
}
