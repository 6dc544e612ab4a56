import BusFormat
import BusProtocol
import EventBus
import GRDB
import Testing

@testable import Broker

@Suite("Batches that the broker refuses")
struct RefusalTests {
    private func code(_ message: PublishedMessage, _ fixture: Fixture) -> ProtocolError.Code? {
        let request = PublishRequest(producer: ProducerID(), sequence: 1, messages: [message])
        guard case .refused(let error) = fixture.ask(.publish(request)) else { return nil }
        return error.code
    }

    private func message(
        topic: String, subject: String = "default", key: String = "", header: Int = 1, data: Int = 1
    ) -> PublishedMessage {
        PublishedMessage(
            topic: topic, subject: subject, key: key, header: Array(repeating: 1, count: header)[...],
            data: Array(repeating: 1, count: data)[...])
    }

    @Test("An invalid message is refused with its code, whether its topic is known or not", arguments: [true, false])
    func messages(isKnown: Bool) throws {
        try Fixture.run { fixture in
            let topic = Topic(MessageType(kind: .event, name: "A"), subject: "default").name
            if isKnown { _ = fixture.publish(sequence: 1, ["A"]) }
            let head = fixture.journal.head
            for bad in [
                "", "\u{0}\(topic)", "\u{1}\(topic)", "event.A", "event.A.40",
                "event.\(String(repeating: "A", count: 250)).3e",
            ] {
                #expect(code(message(topic: bad), fixture) == .topic)
            }
            #expect(code(message(topic: topic, subject: "another"), fixture) == .topic)
            let query = Topic(MessageType(kind: .query, name: "A"), subject: "default").name
            #expect(code(message(topic: query), fixture) == .topic)
            let long = String(repeating: "k", count: Limits.nameLength + 1)
            #expect(code(message(topic: topic, key: long), fixture) == .tooLarge)
            #expect(code(message(topic: topic, key: "a\u{0}"), fixture) == .malformed)
            #expect(code(message(topic: topic, key: "e\u{301}"), fixture) == .malformed)
            let decomposed = Topic(MessageType(kind: .event, name: "A"), subject: "e\u{301}").name
            #expect(code(message(topic: decomposed, subject: "e\u{301}"), fixture) == .malformed)
            let zero = Topic(MessageType(kind: .event, name: "A"), subject: "default\u{0}").name
            #expect(code(message(topic: zero, subject: "default\u{0}"), fixture) == .malformed)
            #expect(code(message(topic: topic, header: Limits.headerSize + 1), fixture) == .tooLarge)
            #expect(code(message(topic: topic, data: Limits.dataSize + 1), fixture) == .tooLarge)
            #expect(fixture.journal.head == head)
            #expect(code(message(topic: topic, header: Limits.headerSize, data: Limits.dataSize), fixture) == nil)
        }
    }

    @Test("A key that is not UTF-8 is refused")
    func notUTF8() throws {
        try Fixture.run { fixture in
            let topic = Topic(MessageType(kind: .event, name: "A"), subject: "default").name
            var frames = Request.publish(
                PublishRequest(producer: ProducerID(), sequence: 1, messages: [message(topic: topic, key: "abc")])
            ).frames(id: 1)
            let key = try #require(frames[2].firstIndex(of: UInt8(ascii: "b")))
            frames[2][key] = 0xff
            let reply = fixture.reply(fixture.handle([Incoming(peer: [1], frames: frames)]))
            #expect(reply == .refused(ProtocolError(.malformed, "a string is not UTF-8")))
        }
    }

    @Test("A topic beyond the limit is refused, and existing topics continue")
    func topics() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            var names: [String] = []
            for number in 1..<TopicTable.capacity {
                let topic = Topic(MessageType(kind: .event, name: "T\(number)"), subject: "default")
                names.append(topic.name)
            }
            try DatabaseQueue(path: fixture.path).write { database in
                let insert = try database.makeStatement(sql: "INSERT INTO topics (name, head) VALUES (?, 0)")
                for name in names { try insert.execute(arguments: [name]) }
            }
            try fixture.restart()
            guard case .refused(let error) = fixture.publish(sequence: 2, ["B"]) else {
                Issue.record("one more topic was taken")
                return
            }
            #expect(error.code == .tooLarge)
            #expect(fixture.publish(sequence: 3, ["A"]) == fixture.published(2))
        }
    }

    @Test("A consumer's name with a zero byte is refused")
    func zeroInName() throws {
        try Fixture.run { fixture in
            _ = fixture.claim("music")
            #expect(fixture.claim("music\u{0}x") == nil)
            #expect(fixture.claim("music", as: .shared, isRenewal: true) != nil)
        }
    }

    @Test("A consumer's name that is not in Unicode Normalization Form C is refused")
    func decomposedName() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("caf\u{e9}")
            #expect(fixture.claim("cafe\u{301}") == nil)
            let checkpoint = fixture.checkpoint("cafe\u{301}", owner: 1, offset: 1)
            guard case .refused(let error) = fixture.publish(sequence: 2, [], checkpoint: checkpoint) else {
                Issue.record("progress was recorded")
                return
            }
            #expect(error.code == .malformed)
            let own = fixture.checkpoint("caf\u{e9}", owner: 1, offset: 2)
            #expect(fixture.publish(sequence: 3, [], checkpoint: own) == fixture.published(2))
            try fixture.restart()
            #expect(fixture.journal.consumers["caf\u{e9}"]?.group.position == 2)
        }
    }

    @Test("A durable consumer beyond the limit is refused, and existing ones continue")
    func consumers() throws {
        try Fixture.run { fixture in
            _ = fixture.claim("music")
            try fixture.execute(
                """
                WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
                INSERT INTO consumers SELECT 'c' || number, 0, NULL FROM numbers
                """, [ConsumerLimits.consumers - 1])
            try fixture.execute(
                """
                INSERT INTO shares SELECT consumers.name, partition, NULL, 0, 0 FROM consumers, shares
                WHERE shares.consumer = 'music' AND consumers.name <> 'music'
                """)
            try fixture.restart()
            #expect(fixture.claim("one more") == nil)
            #expect(fixture.claim("music") != nil)
        }
    }

    @Test("A refused batch that is sent again is refused again, also after a restart", arguments: [true, false])
    func resent(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            _ = fixture.claim("music")
            let fenced = fixture.checkpoint("music", owner: 1, offset: 1)
            func send() -> [Reply] {
                [
                    fixture.publish(sequence: 2, ["B"], checkpoint: fenced),
                    fixture.publish(sequence: 3, [], settling: [7]),
                ]
            }
            let refusals = send()
            #expect(
                refusals.first
                    == .refused(ProtocolError(.fenced, "another process has taken over the durable consumer 'music'")))
            #expect(refusals.last == .refused(ProtocolError(.deadLetter, "there is no dead letter 7")))
            _ = fixture.publish(sequence: 4, ["C"])
            if isRestarted { try fixture.restart() }
            #expect(send() == refusals)
            #expect(fixture.publish(sequence: 4, ["C"]) == fixture.published(2), "what was taken is acknowledged")
        }
    }

    @Test(
        "A batch that is malformed after its first frame is refused each time, and the next one is accepted",
        arguments: [true, false])
    func broken(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            let whole = Request.publish(
                PublishRequest(producer: fixture.producer, sequence: 1, messages: [Fixture.message("A")])
            ).frames(id: 1)
            func changed(_ change: (inout [[UInt8]]) -> Void) -> [[UInt8]] {
                var frames = whole
                change(&frames)
                return frames
            }
            let broken: [[[UInt8]]] = [
                changed { $0[1][24] = 32 }, changed { $0[1][24] = 2 }, changed { $0[1][24] = 8 },
                changed { $0[1][25] = 0xff },
                changed { $0.removeLast() }, changed { $0.append([]) }, changed { $0[2].removeLast() },
            ]
            func send(_ index: Int) -> Reply {
                var frames = broken[index]
                frames[1][23] = UInt8(index + 1)
                return fixture.reply(fixture.handle([Incoming(peer: [1], frames: frames)]))
            }
            let refusals = broken.indices.map(send)
            for refusal in refusals {
                guard case .refused(let error) = refusal, [.malformed, .tooLarge].contains(error.code) else {
                    Issue.record("\(refusal)")
                    continue
                }
            }
            if isRestarted { try fixture.restart() }
            #expect(broken.indices.map(send) == refusals)
            #expect(fixture.publish(sequence: UInt64(broken.count) + 1, ["A"]) == fixture.published(1))
        }
    }

    @Test("A batch whose first frame is malformed does not count in the sequence")
    func brokenHead() throws {
        try Fixture.run { fixture in
            var frames = Request.publish(
                PublishRequest(producer: fixture.producer, sequence: 1, messages: [Fixture.message("A")])
            ).frames(id: 1)
            frames[1].append(0)
            let refusal = fixture.reply(fixture.handle([Incoming(peer: [1], frames: frames)]))
            #expect(refusal == .refused(ProtocolError(.malformed, "a frame is too long")))
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(1))
        }
    }

    @Test("The recorded refusals are bounded, and are removed with their producer")
    func boundedRefusals() throws {
        try Fixture.run { fixture in
            func count() throws -> Int? {
                try fixture.journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM refusals") }
            }
            for sequence in 1...ProducerTable.refusalCount + 10 {
                _ = fixture.publish(sequence: sequence, [], settling: [7])
            }
            #expect(try count() == Int(ProducerTable.refusalCount))
            let journal = fixture.journal
            try journal.transaction(at: fixture.time + ProducerRow.retention + 1) {
                try $0.forgetProducers(but: [])
            }
            #expect(try count() == 0)
        }
    }
}
