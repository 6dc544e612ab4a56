import BusFormat
import BusFuzz
import BusProtocol
import EventBus
import Foundation
import Testing

@testable import Broker

@Suite("Broker without sockets")
struct BrokerEngineTests {
    @Test("A batch that is sent twice is recorded once and acknowledged twice")
    func duplicate() throws {
        try Fixture.run { fixture in
            let first = fixture.publish(sequence: 1, ["A"])
            #expect(fixture.publish(sequence: 1, ["A"]) == first)
            #expect(fixture.journal.head == 1)
            #expect(fixture.lastFeed.isEmpty, "and is heard once")
        }
    }

    @Test("A batch out of sequence is refused with the expected sequence")
    func gap() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            let refusal = Reply.refused(ProtocolError(.sequence, "batch 2 is expected, not 3"))
            #expect(fixture.publish(sequence: 3, ["C"]) == refusal)
            #expect(fixture.publish(sequence: 2, ["B"]) == .published(epoch: fixture.journal.epoch, offset: 2))
        }
    }

    @Test("A batch with one invalid message is refused whole, and the next batch is accepted")
    func atomic() throws {
        try Fixture.run { fixture in
            let bad = PublishedMessage(topic: "event.A.00", subject: "default", key: "", header: [], data: [])
            let batch = PublishRequest(
                producer: fixture.producer, sequence: 1, messages: [Fixture.message("A"), bad])
            #expect(
                fixture.ask(.publish(batch))
                    == .refused(ProtocolError(.topic, "topic event.A.00 does not have the partition of its subject")))
            #expect(fixture.journal.head == 0)
            #expect(fixture.publish(sequence: 2, ["B"]) == .published(epoch: fixture.journal.epoch, offset: 1))
        }
    }

    @Test("Every message names the previous message of its topic")
    func chain() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "A"])
            #expect(fixture.lastFeed.map(\.previous) == [0, 0, 1])
            _ = fixture.publish(sequence: 2, ["B"])
            #expect(fixture.lastFeed.map(\.previous) == [2])
        }
    }

    @Test("The journal is the same after a restart")
    func restart() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B"])
            let epoch = fixture.journal.epoch
            try fixture.restart()
            #expect(fixture.journal.epoch == epoch)
            #expect(fixture.publish(sequence: 1, ["A", "B"]) == .published(epoch: epoch, offset: 2))
            _ = fixture.publish(sequence: 2, ["A"])
            #expect(fixture.lastFeed.map(\.previous) == [1])
        }
    }

    @Test("A leased document is withdrawn when its producer is silent for longer than the lease")
    func lease() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            let atOnce = try fixture.tick(after: .seconds(4))
            #expect(atOnce.isEmpty)
            _ = fixture.ask(.hello(Greeting(producer: fixture.producer)))
            let early = try fixture.tick(after: .seconds(4))
            #expect(early.isEmpty, "it has said hello meanwhile")
            let withdrawn = try fixture.tick(after: .seconds(2)).map(\.data)
            #expect(withdrawn == [[]])
            #expect(fixture.documents().isEmpty)
        }
    }

    @Test(
        "A broker that was stopped for a while starts every lease again",
        arguments: [Duration.seconds(4.5), .seconds(60)])
    func absence(duration: Duration) throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            try fixture.tick(after: .seconds(1))
            fixture.now = fixture.now.advanced(by: duration)
            let atOnce = try fixture.tick() + fixture.tick(after: .seconds(4))
            #expect(atOnce.isEmpty)
            let later = try fixture.tick(after: .seconds(2))
            #expect(later.count == 1)
        }
    }

    @Test("A producer that says good-bye withdraws its leased documents at once")
    func bye() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            #expect(fixture.documents().count == 1)
            _ = fixture.ask(.bye(Greeting(producer: fixture.producer)))
            #expect(fixture.documents().isEmpty)
        }
    }

    @Test("A damaged row is reported by its offset and is never delivered, unlike the other rows")
    func damage() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A", "B"])
            try fixture.execute("UPDATE messages SET data = x'ff' WHERE offset = 2")
            try fixture.execute("UPDATE messages SET previous = 7 WHERE offset = 4")
            // The damage could be in the topics, so it is named to every reader.
            for filter in ["event.A.", "event.B.", "event."] { #expect(fixture.read(filter)?.damaged == [2, 4]) }
            #expect(fixture.read()?.messages.map(\.offset) == [1, 3])
        }
    }

    @Test("A page beyond the end of the journal is refused")
    func beyondEnd() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            for epoch in [0, fixture.journal.epoch] {
                let ahead = PageRequest(epoch: epoch, after: 2, prefixes: ["event."])
                let refusal = Reply.refused(ProtocolError(.epoch, "offset 2 is beyond the end of the journal, 1"))
                #expect(fixture.ask(.read(ahead)) == refusal)
                #expect(fixture.ask(.heads(ahead)) == refusal)
                #expect(fixture.ask(.documents(ahead)) == refusal)
            }
            let atEnd = try #require(fixture.read(after: 1))
            #expect((atEnd.through, atEnd.isComplete, atEnd.messages.count) == (1, true, 0))
        }
    }

    @Test("A page without filters is empty and complete")
    func withoutFilters() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B"])
            let request = PageRequest(epoch: 0, after: 0, prefixes: [])
            let page = Page(epoch: fixture.journal.epoch, through: 2, isComplete: true, messages: [])
            #expect(fixture.ask(.read(request)) == .page(page))
            #expect(fixture.ask(.documents(request)) == .page(page))
            #expect(fixture.ask(.heads(request)) == .heads(Heads(epoch: page.epoch, through: 2, offsets: [:])))
        }
    }

    @Test("A notice 'query' from a client is refused, in a reply that does not look like a query")
    func query() throws {
        try Fixture.run { fixture in
            let frames = Notice.query(id: 7, Fixture.message("Songs", kind: .query)).frames
            for frames in [frames, [frames[0]]] {
                let answers = fixture.handle([Incoming(peer: [9], frames: frames)]).frames.map(\.frames)
                try #require(answers.count == 1)
                #expect(try Notice(answers[0]) == nil)
                let (id, reply) = try Reply.read(answers[0])
                #expect(id == 7)
                #expect(reply == .refused(ProtocolError(.operation, "only the broker sends 'query'")))
            }
        }
    }

    @Test("A long hello is answered with the number of leased documents, a short hello without it")
    func leaseCount() throws {
        try Fixture.run { fixture in
            func leased() -> UInt64? {
                let greeting = Greeting(producer: fixture.producer, asksForMore: true)
                guard case .welcome(let welcome) = fixture.ask(.hello(greeting)) else { return nil }
                return welcome.more?.leased
            }
            #expect(leased() == 0)
            _ = fixture.publish(sequence: 1, ["Presence", "Contract"], kind: .document, isLeased: true)
            _ = fixture.publish(sequence: 2, ["Playlists"], kind: .document)
            #expect(leased() == 2)
            _ = fixture.publish(sequence: 3, ["Contract"], kind: .document)
            #expect(leased() == 1, "it stays, whatever becomes of its publisher")
            try fixture.tick(after: .seconds(7))
            #expect(leased() == 0)
            guard case .welcome(let short) = fixture.ask(.hello(Greeting(producer: fixture.producer))) else { return }
            #expect(short.more == nil)
        }
    }

    @Test("Pages are bounded, and together contain every message")
    func pages() throws {
        try Fixture.run { fixture in
            for sequence in 1...6 {
                _ = fixture.publish(sequence: UInt64(sequence), Array(repeating: "A", count: 100))
            }
            var after: UInt64 = 0
            var sizes: [Int] = []
            while case .page(let page) = fixture.ask(.read(PageRequest(epoch: 0, after: after, prefixes: ["event."]))) {
                sizes.append(page.messages.count)
                after = page.through
                if page.isComplete { break }
            }
            #expect(sizes == [256, 256, 88])
            #expect(after == 600)
        }
    }

    @Test(
        "A request that does not match the protocol is refused, and the broker continues",
        arguments: [[], [[]], [[1, 2, 3]], [Array("GET / HTTP/1.1".utf8)]] as [[[UInt8]]])
    func strangers(frames: [[UInt8]]) throws {
        try Fixture.run { fixture in
            #expect(fixture.handle([Incoming(peer: [9], frames: frames)]).frames.count == 1)
            #expect(fixture.publish(sequence: 1, ["A"]) == .published(epoch: fixture.journal.epoch, offset: 1))
        }
    }
}

@Suite("The broker's clock")
struct BrokerClockTests {
    @Test("The journal's time advances with the monotonic clock, not with the wall clock")
    func evenly() {
        let start = ContinuousClock.now
        // The wall clock is read only at the start.
        let clock = BrokerClock(start: start, wall: 1_000_000)
        #expect(clock.time(at: start) == 1_000_000)
        #expect(clock.time(at: start + .seconds(90)) == 1_090_000)
        #expect(clock.time(at: start - .milliseconds(1)) == 999_999)
    }
}

@Suite("Garbage on the ingress socket")
struct FuzzTests {
    @Test("Every request of random bytes gets an answer, and the journal stays intact", arguments: [1, 2] as [UInt64])
    func garbage(seed: UInt64) throws {
        try Fixture.inDirectory { directory in
            var fuzz = try BrokerFuzz(seed: seed, directory: directory)
            try fuzz.run(inputs: 10_000)
            #expect(fuzz.summary.answers > 5000)
            #expect(fuzz.summary.feed > 500)
            // The requests are refused with at least these codes.
            #expect(Set([14] + Array(1...8)).isSubset(of: fuzz.summary.refusals.keys))
        }
    }
}
