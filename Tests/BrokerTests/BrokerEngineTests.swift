import BusProtocol
import EventBus
import Foundation
import Testing

@testable import Broker

@Suite("Broker without sockets")
struct BrokerEngineTests {
    @Test("a batch that is sent twice is journalled once and acknowledged twice")
    func duplicate() throws {
        try Fixture.run { fixture in
            let first = fixture.publish(sequence: 1, ["A"])
            #expect(fixture.publish(sequence: 1, ["A"]) == first)
            #expect(fixture.journal.head == 1)
            #expect(fixture.lastFeed.isEmpty, "and is heard once")
        }
    }

    @Test("a batch out of sequence is refused, naming the one that is expected")
    func gap() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            let refusal = Reply.refused(ProtocolError(.sequence, "batch 2 is expected, not 3"))
            #expect(fixture.publish(sequence: 3, ["C"]) == refusal)
            #expect(fixture.publish(sequence: 2, ["B"]) == .published(epoch: fixture.journal.epoch, offset: 2))
        }
    }

    @Test("a batch with one bad message leaves nothing behind, and the next one is taken")
    func atomic() throws {
        try Fixture.run { fixture in
            let bad = PublishedMessage(topic: "event.A.00", subject: "default", key: "", header: [], data: [])
            let batch = PublishRequest(
                producer: fixture.producer, sequence: 1, messages: [Fixture.message("A"), bad])
            #expect(
                fixture.ask(.publish(batch))
                    == .refused(ProtocolError(.topic, "event.A.00 is not the partition of its subject")))
            #expect(fixture.journal.head == 0)
            #expect(fixture.publish(sequence: 2, ["B"]) == .published(epoch: fixture.journal.epoch, offset: 1))
        }
    }

    @Test("every message names the one before it on its topic")
    func chain() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B", "A"])
            #expect(fixture.lastFeed.map(\.previous) == [0, 0, 1])
            _ = fixture.publish(sequence: 2, ["B"])
            #expect(fixture.lastFeed.map(\.previous) == [2])
        }
    }

    @Test("the journal is the same after a restart")
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

    @Test("a fenced owner's batch leaves nothing behind, neither progress nor messages")
    func fencing() throws {
        try Fixture.run { fixture in
            let epoch = fixture.journal.epoch
            #expect(fixture.claim("music") == .claimed(ownerEpoch: 1, epoch: epoch, offset: 0))
            #expect(fixture.claim("music") == .claimed(ownerEpoch: 2, epoch: epoch, offset: 0))
            let late = fixture.publish(sequence: 1, ["A"], checkpoint: ("music", owner: 1, offset: 5))
            #expect(late == .refused(ProtocolError(.fenced, "another process has taken music over")))
            #expect(fixture.journal.head == 0)
            _ = fixture.publish(sequence: 2, ["A"], checkpoint: ("music", owner: 2, offset: 7))
            #expect(fixture.claim("music") == .claimed(ownerEpoch: 3, epoch: epoch, offset: 7))
        }
    }

    @Test("a claim that is sent twice is one claim")
    func repeatedClaim() throws {
        try Fixture.run { fixture in
            let token = ProducerID()
            #expect(fixture.claim("music", token: token) == fixture.claim("music", token: token))
        }
    }

    @Test("a leased document goes when its producer is silent for longer than its lease")
    func lease() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            let early = try fixture.expireLeases(after: .seconds(4))
            #expect(early.isEmpty)
            fixture.now = fixture.now.advanced(by: .seconds(4))
            _ = fixture.ask(.hello(fixture.producer))
            #expect(try fixture.expireLeases(after: .seconds(4)).isEmpty, "it has said hello meanwhile")
            #expect(try fixture.expireLeases(after: .seconds(6)).map(\.data) == [[]])
            #expect(fixture.documents().isEmpty)
        }
    }

    @Test("a broker that was away itself lets every lease begin anew")
    func absence() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            let atOnce = try fixture.expireLeases(after: .seconds(60))
            #expect(atOnce.isEmpty)
            let later = try fixture.expireLeases(after: .seconds(64)) + fixture.expireLeases(after: .seconds(66))
            #expect(later.count == 1)
        }
    }

    @Test("a producer that says good-bye takes its leased documents along at once")
    func bye() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["Presence"], kind: .document, isLeased: true)
            #expect(fixture.documents().count == 1)
            _ = fixture.ask(.bye(fixture.producer))
            #expect(fixture.documents().isEmpty)
        }
    }

    @Test("a damaged row is named by its offset, and never served")
    func damage() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            try fixture.corrupt(offset: 2)
            let reply = fixture.ask(.read(PageRequest(epoch: 0, after: 0, prefixes: ["event."])))
            #expect(reply == .refused(ProtocolError(.journal, "the journal is damaged at offset 2")))
        }
    }

    @Test("pages are bounded, and together are everything")
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
        "a request that is not the protocol is refused, and nothing else is disturbed",
        arguments: [[], [[]], [[1, 2, 3]], [Array("GET / HTTP/1.1".utf8)]] as [[[UInt8]]])
    func strangers(frames: [[UInt8]]) throws {
        try Fixture.run { fixture in
            #expect(fixture.handle([Incoming(peer: [9], frames: frames)]).replies.count == 1)
            #expect(fixture.publish(sequence: 1, ["A"]) == .published(epoch: fixture.journal.epoch, offset: 1))
        }
    }
}
