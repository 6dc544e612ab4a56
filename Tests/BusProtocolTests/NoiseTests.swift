import BusFuzz
import EventBus
import TestSupport
import Testing

@testable import BusProtocol

@Suite("Noise on the wire")
struct NoiseTests {
    @Test("Random bytes never trap", arguments: 1...4 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let frames = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
                (0..<Int.random(in: 0..<64, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            for operation in Operation.allCases {
                _ = try? Request(operation, body: frames[...])
                let head = RequestHead(operation: operation, id: 1).bytes
                Self.read([head] + frames)
                Self.read([head, [0, 0, 0]] + frames)
            }
            Self.read(frames)
        }
    }

    @Test(
        "A broker's message with random damage never traps its reader",
        arguments: 1...4 as ClosedRange<UInt64>)
    func brokenReplies(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let mutator = FrameMutator()
        let sent =
            ReplyTests.replies.map { $1.frames(to: RequestHead(operation: $0, id: 5)) } + [
                Notice.query(id: 4, RequestTests.query).frames, Notice.cancel(id: 4).frames,
                Notice.query(id: 4, RequestTests.query, ReplyTests.verified.origin).frames,
                Inbox.answer(topic: Array("~00.1".utf8), epoch: 3, head: 8),
            ] + ReplyTests.frames([ReplyTests.message]) + ReplyTests.frames([ReplyTests.verified])
        for _ in 0..<200 {
            for frames in sent { Self.read(mutator.mutate(frames, &generator)) }
        }
    }

    /// Everything that a client reads from the broker, up to the last field.
    private static func read(_ frames: [[UInt8]]) {
        _ = try? Notice(frames)
        _ = try? Inbox.readAnswer(frames)
        for message in (try? FeedPacket.messages(frames)) ?? [] { _ = try? message.envelope() }
        switch try? Reply.read(frames).reply {
        case .page(let page): for message in page.messages { _ = try? message.envelope() }
        case .deadLetters(let deadLetters):
            for deadLetter in deadLetters.deadLetters { _ = try? deadLetter.message.envelope() }
        default: break
        }
    }
}
