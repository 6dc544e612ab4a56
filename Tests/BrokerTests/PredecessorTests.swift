import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("Checkpoints that name their predecessor")
struct PredecessorTests {
    private let partition = Partition(subject: "default")

    private func code(_ reply: Reply) -> ProtocolError.Code? {
        guard case .refused(let error) = reply else { return nil }
        return error.code
    }

    /// Publishes the result of handling a message.
    private func handle(
        _ offset: UInt64, after previous: UInt64?, sequence: UInt64, settling deadLetters: [Int64] = [],
        _ fixture: Fixture
    ) -> Reply {
        let checkpoint = fixture.checkpoint("music", owner: 1, offset: offset, partition: partition, previous: previous)
        return fixture.publish(sequence: sequence, ["B"], checkpoint: checkpoint, settling: deadLetters)
    }

    @Test("The batches after a refused one are refused too, so its message is not lost", arguments: [true, false])
    func refused(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            _ = fixture.claim("music")
            #expect(handle(1, after: 0, sequence: 2, fixture) == fixture.published(4))
            func send() -> [Reply] {
                [
                    // The dead letter that this batch settles does not exist.
                    handle(2, after: 1, sequence: 3, settling: [99], fixture),
                    handle(3, after: 2, sequence: 4, fixture),
                ]
            }
            let replies = send()
            #expect(replies.map(code) == [.deadLetter, .unrecorded])
            #expect(
                replies.last
                    == .refused(
                        ProtocolError(.unrecorded, "the previous checkpoint, at offset 2, is not recorded")))
            #expect(fixture.journal.head == 4)
            if isRestarted { try fixture.restart() }
            #expect(send() == replies, "a batch that is sent again gets the same answer")
            #expect(fixture.claim("music")?.offsets[partition] == 1)
        }
    }

    @Test("A checkpoint is accepted when its predecessor is recorded")
    func recorded() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A", "A"])
            _ = fixture.claim("music")
            #expect(code(handle(2, after: 1, sequence: 2, fixture)) == .unrecorded)
            #expect(handle(1, after: 0, sequence: 3, fixture) == fixture.published(4))
            #expect(handle(2, after: 1, sequence: 4, fixture) == fixture.published(5))
            // A checkpoint of all partitions counts as the predecessor, too.
            let all = fixture.checkpoint("music", owner: 1, offset: 4)
            #expect(fixture.publish(sequence: 5, [], checkpoint: all) == fixture.published(5))
            #expect(handle(5, after: 4, sequence: 6, fixture) == fixture.published(6))
        }
    }

    @Test("A checkpoint that names no predecessor is not checked")
    func unnamed() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("music")
            #expect(handle(2, after: nil, sequence: 2, fixture) == fixture.published(3))
        }
    }

    @Test("A displaced owner is refused as fenced first, and a repeat is acknowledged whatever it names")
    func order() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            _ = fixture.claim("music")
            #expect(handle(1, after: 0, sequence: 2, fixture) == fixture.published(3))
            #expect(handle(1, after: 2, sequence: 3, fixture) == fixture.published(3))
            _ = fixture.claim("music")
            #expect(code(handle(2, after: 9, sequence: 4, fixture)) == .fenced)
        }
    }

    @Test("The result of a slow partition is not a repeat, however far the others are ahead", arguments: [true, false])
    func slowPartition(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            let fast = try #require(Partition.all.first { $0 != partition })
            _ = fixture.publish(sequence: 1, ["A", "A", "A", "A"])
            _ = fixture.claim("music")
            // Message 1 belongs to the slow partition. It is unfinished while messages 2 to 4, of the other partition,
            // are handled.
            for offset in 2...4 as ClosedRange<UInt64> {
                let checkpoint = fixture.checkpoint(
                    "music", owner: 1, offset: offset, settled: 0, partition: fast,
                    previous: offset == 2 ? 0 : offset - 1)
                #expect(fixture.publish(sequence: offset, [], checkpoint: checkpoint) == fixture.published(4))
            }
            if isRestarted { try fixture.restart() }
            let late = fixture.checkpoint(
                "music", owner: 1, offset: 1, settled: 4, partition: partition, previous: 0)
            #expect(fixture.publish(sequence: 5, ["B"], checkpoint: late) == fixture.published(5))
            #expect(fixture.consumers()?.map(\.position) == [4])
        }
    }
}
