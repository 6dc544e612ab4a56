import BusProtocol
import Testing

@testable import ZeroMQEventBus

@Suite("What a subscriber may be given")
struct FeedTrackerTests {
    static func message(_ offset: UInt64, previous: UInt64, topic: String = "event.A.00", header: Bytes = [0x7b, 0x7d]) -> FeedMessage {
        FeedMessage(topic: topic, epoch: 1, offset: offset, previous: previous, header: header, data: [])
    }

    static func page(_ messages: [FeedMessage], through: UInt64, isComplete: Bool = true) -> Page {
        Page(epoch: 1, through: through, isComplete: isComplete, messages: messages)
    }

    /// A tracker behind a reference, so that an expectation may call what changes it.
    final class Reader {
        var tracker: FeedTracker

        init(_ start: FeedTracker.Start = .now, head: UInt64 = 10) {
            tracker = FeedTracker(prefixes: ["event."], start: start, head: head)
        }

        var phase: FeedTracker.Phase { tracker.phase }

        func receive(live message: FeedMessage, hasRoom: Bool = true) -> Bool {
            tracker.receive(live: message, hasRoom: hasRoom)
        }

        func receive(_ page: Page) -> [UInt64] {
            tracker.receive(page).map(\.offset)
        }
    }

    @Test("a message whose predecessor came is delivered, once")
    func chain() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(reader.receive(live: Self.message(12, previous: 11)))
        #expect(!reader.receive(live: Self.message(12, previous: 11)))
        #expect(reader.phase == .live)
    }

    @Test("what was published before the subscription is not delivered")
    func past() {
        let reader = Reader()
        #expect(!reader.receive(live: Self.message(10, previous: 3)))
        #expect(reader.phase == .live)
    }

    @Test("a broken chain sends the reader to the journal until nothing is missing")
    func gap() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(!reader.receive(live: Self.message(13, previous: 12)))
        #expect(reader.phase == .journal(after: 10))
        // It goes on while live messages pass by: up to the last of them must be read.
        #expect(!reader.receive(live: Self.message(15, previous: 13)))
        let first = reader.receive(
            Self.page([11, 12, 13].map { Self.message($0, previous: $0 - 1) }, through: 13, isComplete: true))
        #expect(first == [12, 13], "what was delivered live does not come twice")
        #expect(reader.phase == .journal(after: 13))
        #expect(reader.receive(Self.page([Self.message(15, previous: 13)], through: 15)) == [15])
        #expect(reader.phase == .live)
        #expect(reader.receive(live: Self.message(16, previous: 15)))
    }

    @Test("a loss on one topic is found although another topic went on")
    func otherTopic() {
        let reader = Reader()
        // 11 on B is lost; 12 on A is intact; 13 on B shows the loss.
        #expect(reader.receive(live: Self.message(12, previous: 2)))
        #expect(!reader.receive(live: Self.message(13, previous: 11, topic: "event.B.00")))
        let read = reader.receive(
            Self.page(
                [
                    Self.message(11, previous: 0, topic: "event.B.00"), Self.message(12, previous: 2),
                    Self.message(13, previous: 11, topic: "event.B.00"),
                ], through: 13))
        #expect(read == [11, 13])
    }

    @Test("a lost message that nothing follows is found by the heads")
    func tail() {
        let reader = Reader()
        reader.tracker.note(Heads(epoch: 1, through: 12, offsets: ["event.A.00": 12, "command.X.00": 11]))
        #expect(reader.phase == .live, "it may still be on its way")
        reader.tracker.judge()
        #expect(reader.phase == .journal(after: 10))
    }

    @Test("heads of what came change nothing, and move the base on")
    func headsSeen() {
        let reader = Reader()
        reader.tracker.note(Heads(epoch: 1, through: 12, offsets: ["event.A.00": 12]))
        #expect(reader.receive(live: Self.message(12, previous: 1)))
        reader.tracker.judge()
        #expect(reader.phase == .live)
        #expect(!reader.receive(live: Self.message(14, previous: 13)))
        #expect(reader.phase == .journal(after: 12), "the next recovery begins where the heads agreed")
    }

    @Test("a reader without room loses nothing: the rest waits in the journal")
    func slowReader() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(!reader.receive(live: Self.message(12, previous: 11), hasRoom: false))
        #expect(reader.phase == .journal(after: 10))
        let read = reader.receive(
            Self.page([Self.message(11, previous: 3), Self.message(12, previous: 11)], through: 12))
        #expect(read == [12])
    }

    @Test("the past is read to its end before anything live is delivered")
    func catchUp() {
        let reader = Reader(.after(0), head: 2)
        #expect(!reader.receive(live: Self.message(3, previous: 2)))
        let first = reader.receive(
            Self.page([Self.message(1, previous: 0)], through: 1, isComplete: false))
        #expect(first == [1])
        let rest = reader.receive(
            Self.page([Self.message(2, previous: 1), Self.message(3, previous: 2)], through: 3))
        #expect(rest == [2, 3])
        #expect(reader.receive(live: Self.message(4, previous: 3)))
    }

    @Test("retained documents come first, then what was published since")
    func documents() {
        let reader = Reader(.documents, head: 10)
        #expect(reader.phase == .documents(after: 0))
        #expect(reader.receive(Self.page([Self.message(4, previous: 2)], through: 10)) == [4])
        #expect(reader.phase == .journal(after: 10))
        #expect(reader.receive(Self.page([Self.message(11, previous: 4)], through: 11)) == [11])
        #expect(reader.phase == .live)
    }

    @Test("a new journal is read from its beginning")
    func newEpoch() {
        let reader = Reader()
        reader.tracker.restart()
        #expect(reader.phase == .journal(after: 0))
        #expect(reader.receive(Self.page([Self.message(1, previous: 0)], through: 1)) == [1])
    }

    @Test("whatever the feed drops, everything arrives once and in order", arguments: 0..<40)
    func anyLoss(seed: UInt64) {
        var generator = SplitMix(state: seed)
        var journal: [FeedMessage] = []
        var heads: [String: UInt64] = [:]
        var delivered: [UInt64] = []
        var tracker = FeedTracker(prefixes: ["event."], start: .now, head: 0)
        func readPage() {
            guard case .journal(let after) = tracker.phase else { return }
            let all = journal.filter { $0.offset > after }
            let some = Array(all.prefix(Int.random(in: 1...5, using: &generator)))
            let isComplete = some.count == all.count
            delivered += tracker.receive(
                Self.page(
                    some, through: isComplete ? UInt64(journal.count) : some.last?.offset ?? after,
                    isComplete: isComplete)
            ).map(\.offset)
        }
        for offset in 1...300 {
            let topic = "event.\(["A", "B", "C"].randomElement(using: &generator) ?? "A").00"
            let message = Self.message(UInt64(offset), previous: heads[topic] ?? 0, topic: topic)
            journal.append(message)
            heads[topic] = message.offset
            let isLost = Int.random(in: 0..<4, using: &generator) == 0
            let hasRoom = Int.random(in: 0..<9, using: &generator) != 0
            if !isLost, tracker.receive(live: message, hasRoom: hasRoom) { delivered.append(message.offset) }
            if Int.random(in: 0..<3, using: &generator) == 0 { readPage() }
            if Int.random(in: 0..<20, using: &generator) == 0 {
                tracker.judge()
                tracker.note(Heads(epoch: 1, through: UInt64(journal.count), offsets: heads))
            }
        }
        tracker.note(Heads(epoch: 1, through: UInt64(journal.count), offsets: heads))
        tracker.judge()
        for _ in 0..<400 where tracker.phase != .live { readPage() }
        #expect(delivered.sorted() == Array(1...300))
        for topic in heads.keys {
            let order = delivered.filter { journal[Int($0) - 1].topic == topic }
            #expect(order == order.sorted(), "the order of a topic holds")
        }
    }
}

/// A small generator with a seed, so that a failing history can be run again.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
