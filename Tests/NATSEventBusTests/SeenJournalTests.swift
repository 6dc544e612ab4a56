import EventBus
import NATSLayout
import Testing

@testable import NATSEventBus

@Suite("Journal that a client has seen on NATS")
struct SeenJournalTests {
    @Test func `A late acknowledgement of an ended epoch does not count in the next one`() {
        var seen = SeenJournal()
        #expect(seen.end.offset == 0)
        let isAnother = seen.follow(1)
        #expect(!isAnother)
        seen.see(90, at: 5, of: 1)
        seen.see(fence: 95, of: 1)
        #expect(seen.lastToRead == 95)
        let isReplaced = seen.follow(2)
        #expect(isReplaced)
        seen.see(40, at: 6, of: 2)
        // What was sent before, and is answered now.
        seen.see(92, at: 5, of: 1)
        seen.see(fence: 99, of: 1)
        seen.see(published: SeenMessage(sequence: 97, time: 5, id: "a"), of: 1)
        #expect(seen.lastToRead == 40)
        #expect(seen.batch == 40)
        #expect(seen.last == SeenMessage(sequence: 40, time: 6))
        #expect(seen.end.epoch == 2)
        seen.see(fence: 41, of: 2)
        seen.see(published: SeenMessage(sequence: 42, time: 7, id: "b"), of: 2)
        #expect(seen.lastToRead == 41)
        #expect(seen.last?.sequence == 42)
    }

    @Test func `A stream that lacks a seen message, or has a former epoch, is not accepted as the journal`() {
        var seen = SeenJournal()
        _ = seen.follow(1)
        seen.see(90, at: nil, of: 1)
        #expect(seen.isIncluded(in: 1, upTo: 90, asked: seen))
        #expect(!seen.isIncluded(in: 1, upTo: 89, asked: seen))
        #expect(seen.isIncluded(in: 2, upTo: 3, asked: seen))
        seen.see(fence: 95, of: 1)
        #expect(seen.isIncluded(in: 1, upTo: 95, asked: seen))
        #expect(!seen.isIncluded(in: 1, upTo: 94, asked: seen), "the fence is lost")
        let asked = seen
        _ = seen.follow(2)
        #expect(!seen.isIncluded(in: 1, upTo: 1000, asked: seen))
        #expect(!seen.isIncluded(in: 1, upTo: 1000, asked: asked))
    }

    @Test func `The answer of a stream may lack messages that arrived after the request`() {
        var seen = SeenJournal()
        _ = seen.follow(1)
        seen.see(90, at: nil, of: 1)
        let asked = seen
        seen.see(91, at: nil, of: 1)
        seen.see(fence: 92, of: 1)
        #expect(seen.isIncluded(in: 1, upTo: 90, asked: asked))
        #expect(!seen.isIncluded(in: 1, upTo: 89, asked: asked))
    }
}
