import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("Dead letters in the broker")
struct LetterTests {
    private let rejection = RejectionFrame(attempts: 3, code: "message.malformed", reason: "no such song")

    @Test("A rejected message is kept with its reason, in one batch with checkpoint and messages")
    func rejected() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "B"])
            _ = fixture.claim("music")
            let reply = fixture.publish(
                sequence: 2, ["C"], checkpoint: fixture.checkpoint("music", owner: 1, offset: 2), rejection: rejection)
            #expect(reply == fixture.published(3))
            let deadLetter = try #require(fixture.deadLetters()?.deadLetters.first)
            #expect(deadLetter.consumer == "music")
            #expect(deadLetter.rejection == rejection)
            #expect(deadLetter.message.topic.hasPrefix("event.B."))
            #expect(deadLetter.message.offset == 2)
            #expect(deadLetter.message.header == [1])
            #expect(deadLetter.message.data == [2])
            #expect(fixture.deadLetters(of: "music")?.deadLetters == [deadLetter])
            #expect(fixture.deadLetters(of: "other")?.deadLetters.isEmpty == true)
            #expect(fixture.deadLetters(after: deadLetter.id)?.deadLetters.isEmpty == true)
        }
    }

    @Test("A rejection by a fenced owner leaves no dead letter")
    func fenced() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            _ = fixture.claim("music")
            _ = fixture.publish(
                sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1), rejection: rejection)
            #expect(fixture.deadLetters()?.deadLetters.isEmpty == true)
        }
    }

    @Test("A message that retention has removed cannot be a dead letter, but progress can pass it")
    func removed() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            try fixture.execute("DELETE FROM messages")
            let checkpoint = fixture.checkpoint("music", owner: 1, offset: 1)
            let kept = fixture.publish(sequence: 2, [], checkpoint: checkpoint, rejection: rejection)
            #expect(kept == .refused(ProtocolError(.deadLetter, "the message at offset 1 is no longer in the journal")))
            #expect(fixture.publish(sequence: 3, ["B"], checkpoint: checkpoint) == fixture.published(2))
        }
    }

    @Test("A dead letter is removed by the batch that settles it, and an unknown one refuses the batch")
    func settled() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            _ = fixture.claim("music")
            _ = fixture.publish(
                sequence: 2, [], checkpoint: fixture.checkpoint("music", owner: 1, offset: 1), rejection: rejection)
            let id = try #require(fixture.deadLetters()?.deadLetters.first?.id)
            let unknown = fixture.publish(sequence: 3, ["A"], settling: [id, id + 1])
            #expect(unknown == .refused(ProtocolError(.deadLetter, "there is no dead letter \(id + 1)")))
            #expect(fixture.journal.head == 1)
            #expect(fixture.deadLetters()?.deadLetters.count == 1)
            #expect(fixture.publish(sequence: 4, ["A"], settling: [id]) == fixture.published(2))
            #expect(fixture.deadLetters()?.deadLetters.isEmpty == true)
        }
    }

    @Test("Pages of dead letters are bounded, and together contain all of them")
    func pages() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, Array(repeating: "A", count: 300))
            _ = fixture.claim("music")
            for offset in 1...300 {
                _ = fixture.publish(
                    sequence: UInt64(offset) + 1, [],
                    checkpoint: fixture.checkpoint("music", owner: 1, offset: UInt64(offset)), rejection: rejection)
            }
            let first = try #require(fixture.deadLetters())
            #expect(!first.isComplete)
            let second = try #require(fixture.deadLetters(after: first.deadLetters.last?.id ?? 0))
            #expect(second.isComplete)
            #expect((first.deadLetters + second.deadLetters).map(\.message.offset) == Array(1...300))
        }
    }
}
