import BusFormat
import BusProtocol
import EventBus
import TestSupport
import Testing

@testable import ZeroMQEventBus

@Suite("Feed of a subscriber")
struct FeedTrackerTests {
    static func message(
        _ offset: UInt64, previous: UInt64, inPartition: UInt64? = nil, topic: String = "event.A.00",
        header: Bytes = [0x7b, 0x7d]
    ) -> FeedMessage {
        FeedMessage(
            topic: topic, epoch: 1, offset: offset, previous: previous, previousInPartition: inPartition ?? previous,
            header: header, data: [])
    }

    static func page(_ messages: [FeedMessage], through: UInt64, isComplete: Bool = true) -> Page {
        Page(epoch: 1, through: through, isComplete: isComplete, messages: messages)
    }

    /// A class around a tracker, so that an expectation may call mutating methods.
    final class Reader {
        var tracker: FeedTracker

        init(_ start: FeedTracker.Start = .now, head: UInt64 = 10, prefixes: [String] = ["event.A."]) {
            tracker = FeedTracker(prefixes: prefixes, start: start, head: head)
        }

        var phase: FeedTracker.Phase { tracker.phase }

        func receive(live message: FeedMessage, hasRoom: Bool = true) -> Bool {
            !tracker.receive(live: [message], room: hasRoom ? 1 : 0).isEmpty
        }

        func receive(_ page: Page) -> [UInt64] {
            tracker.receive(page).map(\.message.offset)
        }
    }

    @Test("A message whose predecessor has arrived is delivered once")
    func chain() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(reader.receive(live: Self.message(12, previous: 11)))
        #expect(!reader.receive(live: Self.message(12, previous: 11)))
        #expect(reader.phase == .live)
    }

    @Test("A message from before the subscription is not delivered")
    func past() {
        let reader = Reader()
        #expect(!reader.receive(live: Self.message(10, previous: 3)))
        #expect(reader.phase == .live)
    }

    @Test("After a gap the reader reads the journal until no message is missing")
    func gap() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(!reader.receive(live: Self.message(13, previous: 12)))
        #expect(reader.phase == .journal(after: 10))
        // Live messages are skipped meanwhile. The journal must be read up to the last of them.
        #expect(!reader.receive(live: Self.message(15, previous: 13)))
        let first = reader.receive(
            Self.page([11, 12, 13].map { Self.message($0, previous: $0 - 1) }, through: 13, isComplete: true))
        #expect(first == [12, 13], "a message that was delivered live is not delivered again")
        #expect(reader.phase == .journal(after: 13))
        #expect(reader.receive(Self.page([Self.message(15, previous: 13)], through: 15)) == [15])
        #expect(reader.phase == .live)
        #expect(reader.receive(live: Self.message(16, previous: 15)))
    }

    @Test("Messages that the feed dropped are reported by type when they are read from the journal")
    func recovered() {
        let reader = Reader(prefixes: ["event."])
        #expect(!reader.receive(live: Self.message(13, previous: 11)))
        #expect(reader.tracker.drainNotices().isEmpty)
        let page = Self.page(
            [
                Self.message(11, previous: 3), Self.message(12, previous: 0, topic: "event.B.01"),
                Self.message(13, previous: 11), Self.message(14, previous: 13),
            ], through: 14)
        #expect(reader.receive(page) == [11, 12, 13, 14])
        let told = Set(reader.tracker.drainNotices())
        #expect(told == [.recovered(Self.type("A"), count: 1), .recovered(Self.type("B"), count: 1)])
        #expect(reader.tracker.drainNotices().isEmpty)
    }

    @Test("Messages that a slow reader skipped, or that were only announced, are not reported as lost")
    func notLost() {
        let reader = Reader()
        #expect(!reader.receive(live: Self.message(11, previous: 3), hasRoom: false))
        #expect(reader.receive(Self.page([Self.message(11, previous: 3)], through: 11)) == [11])
        #expect(!reader.receive(live: Self.message(12, previous: 11, header: [])))
        #expect(reader.receive(Self.page([Self.message(12, previous: 11)], through: 12)) == [12])
        #expect(reader.tracker.drainNotices().isEmpty)
    }

    @Test("Only messages that the feed dropped are reported while the journal is read")
    func recoveredBehind() {
        let reader = Reader(head: 10)
        #expect(!reader.receive(live: Self.message(11, previous: 3), hasRoom: false))
        #expect(!reader.receive(live: Self.message(12, previous: 11)))
        #expect(!reader.receive(live: Self.message(15, previous: 14)), "13 and 14 are lost")
        #expect(!reader.receive(live: Self.message(16, previous: 15)))
        let page = Self.page((11...16).map { Self.message($0, previous: $0 - 1) }, through: 16)
        #expect(reader.receive(page) == [11, 12, 13, 14, 15, 16])
        #expect(reader.tracker.drainNotices() == [.recovered(Self.type("A"), count: 2)])
    }

    @Test("Messages from before the subscription are not reported as lost")
    func catchingUp() {
        let reader = Reader(.after(Position(epoch: 1, offset: 2)), head: 10)
        #expect(!reader.receive(live: Self.message(11, previous: 9)))
        #expect(reader.receive(Self.page([9, 11].map { Self.message($0, previous: 2) }, through: 11)) == [9, 11])
        #expect(reader.tracker.drainNotices().isEmpty)
    }

    @Test("Any number of losses takes bounded memory, and is still reported")
    func manyLosses() {
        let reader = Reader(head: 10)
        let offsets = (1...200).map { UInt64(10 + 2 * $0) }
        for offset in offsets {
            #expect(!reader.receive(live: Self.message(offset, previous: offset - 1)))
        }
        let page = Self.page((11...410).map { Self.message($0, previous: $0 - 1) }, through: 410)
        #expect(reader.receive(page).count == 400)
        guard case .recovered(_, let count)? = reader.tracker.drainNotices().first else {
            Issue.record("nothing is told")
            return
        }
        #expect((200...400).contains(count))
    }

    @Test("A message that the heads show as missing is reported as recovered")
    func missedAtTheEnd() {
        let reader = Reader()
        reader.tracker.record(Heads(epoch: 1, through: 12, offsets: ["event.A.00": 12]))
        reader.tracker.judge()
        #expect(reader.receive(Self.page([Self.message(12, previous: 3)], through: 12)) == [12])
        #expect(reader.tracker.drainNotices() == [.recovered(Self.type("A"), count: 1)])
    }

    @Test("A subscription after a position reports what retention removed before it was read")
    func removed() {
        let reader = Reader(.after(Position(epoch: 1, offset: 5)), head: 20)
        let first = Self.page([Self.message(14, previous: 12), Self.message(15, previous: 14)], through: 15)
        #expect(reader.receive(first) == [14, 15])
        #expect(reader.tracker.drainNotices() == [.removed(Self.type("A"), through: 12)])
        #expect(reader.receive(Self.page([Self.message(19, previous: 18)], through: 20)) == [19])
        #expect(reader.tracker.drainNotices() == [.removed(Self.type("A"), through: 18)])
    }

    @Test("A subscription from the beginning reports only what retention removes while it reads")
    func removedMeanwhile() {
        let reader = Reader(.after(Position(epoch: 0, offset: 0)), head: 20)
        let first = Self.page([Self.message(14, previous: 12)], through: 14, isComplete: false)
        #expect(reader.receive(first) == [14])
        #expect(reader.tracker.drainNotices().isEmpty)
        #expect(reader.receive(Self.page([Self.message(19, previous: 18)], through: 20)) == [19])
        #expect(reader.tracker.drainNotices() == [.removed(Self.type("A"), through: 18)])
    }

    @Test("Replaced documents and damaged messages do not count as removed")
    func notRemoved() {
        let reader = Reader(.after(Position(epoch: 1, offset: 5)), head: 20, prefixes: ["document.", "event."])
        let page = Page(
            epoch: 1, through: 20, isComplete: true,
            messages: [Self.message(14, previous: 12, topic: "document.D.00"), Self.message(16, previous: 15)],
            damaged: [15])
        #expect(reader.receive(page) == [14, 16])
        #expect(reader.tracker.drainNotices().isEmpty)
    }

    private static func type(_ name: String) -> MessageType {
        MessageType(kind: .event, name: name)
    }

    @Test("A message is not delivered before an earlier one of its subject, whatever their types are")
    func otherType() {
        let reader = Reader(prefixes: ["event."])
        // Message 11 on B is lost. The predecessor of message 12 on A has arrived, but not the predecessor in its
        // partition.
        #expect(!reader.receive(live: Self.message(12, previous: 2, inPartition: 11)))
        let read = reader.receive(
            Self.page([Self.message(11, previous: 0, topic: "event.B.00"), Self.message(12, previous: 2)], through: 12))
        #expect(read == [11, 12])
        #expect(reader.receive(live: Self.message(13, previous: 11, inPartition: 12, topic: "event.B.00")))
    }

    @Test("A partition without a loss continues, and its low watermark stays before the gap of another")
    func otherPartition() {
        let reader = Reader(prefixes: ["event."])
        let delivery = reader.tracker.receive(live: [Self.message(12, previous: 2, topic: "event.A.01")], room: 1)
        #expect(delivery.map(\.settled) == [10])
        #expect(!reader.receive(live: Self.message(13, previous: 11, topic: "event.A.00")))
        let deliveries = reader.tracker.receive(
            Self.page(
                [
                    Self.message(11, previous: 0), Self.message(12, previous: 2, topic: "event.A.01"),
                    Self.message(13, previous: 11),
                ], through: 13))
        #expect(deliveries.map(\.message.offset) == [11, 13])
        #expect(deliveries.map(\.settled) == [11, 13])
    }

    @Test("A transient message is delivered only while the reader is live, and does not change its state")
    func transient() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(0, previous: 0)))
        #expect(!reader.receive(live: Self.message(0, previous: 0), hasRoom: false))
        #expect(reader.phase == .live)
        #expect(!reader.receive(live: Self.message(13, previous: 12)))
        #expect(!reader.receive(live: Self.message(0, previous: 0)))
    }

    @Test("A message too large for the feed is read from the journal")
    func announcement() {
        let reader = Reader()
        #expect(!reader.receive(live: Self.message(11, previous: 3, header: [])))
        #expect(reader.phase == .journal(after: 10))
        #expect(reader.receive(Self.page([Self.message(11, previous: 3)], through: 11)) == [11])
    }

    @Test("A lost message without a successor is found by the heads")
    func tail() {
        let reader = Reader()
        reader.tracker.record(Heads(epoch: 1, through: 12, offsets: ["event.A.00": 12, "command.X.00": 11]))
        #expect(reader.phase == .live, "the message may still arrive")
        reader.tracker.judge()
        #expect(reader.phase == .journal(after: 10))
    }

    @Test("Heads of delivered messages change nothing, and a later recovery starts after them")
    func headsSeen() {
        let reader = Reader()
        reader.tracker.record(Heads(epoch: 1, through: 12, offsets: ["event.A.00": 12]))
        #expect(reader.receive(live: Self.message(12, previous: 1)))
        reader.tracker.judge()
        #expect(reader.phase == .live)
        #expect(!reader.receive(live: Self.message(14, previous: 13)))
        #expect(reader.phase == .journal(after: 12), "the next recovery begins where the heads agreed")
    }

    @Test("Heads that were not checked yet are kept when later ones arrive")
    func headsOfTwoPolls() {
        let reader = Reader()
        reader.tracker.record(Heads(epoch: 1, through: 11, offsets: ["event.A.00": 11]))
        reader.tracker.record(Heads(epoch: 1, through: 12, offsets: ["event.A.01": 12]))
        #expect(reader.receive(live: Self.message(12, previous: 4, topic: "event.A.01")))
        reader.tracker.judge()
        #expect(reader.phase == .journal(after: 10))
        #expect(reader.receive(Self.page([Self.message(11, previous: 3)], through: 12)) == [11])
    }

    @Test("A reader without room loses nothing, because it reads the journal later")
    func slowReader() {
        let reader = Reader()
        #expect(reader.receive(live: Self.message(11, previous: 3)))
        #expect(!reader.receive(live: Self.message(12, previous: 11), hasRoom: false))
        #expect(reader.phase == .journal(after: 10))
        let read = reader.receive(
            Self.page([Self.message(11, previous: 3), Self.message(12, previous: 11)], through: 12))
        #expect(read == [12])
    }

    @Test("The past is read to its end before a live message is delivered")
    func catchUp() {
        let reader = Reader(.after(Position(epoch: 0, offset: 0)), head: 2)
        #expect(!reader.receive(live: Self.message(3, previous: 2)))
        let first = reader.receive(
            Self.page([Self.message(1, previous: 0)], through: 1, isComplete: false))
        #expect(first == [1])
        let rest = reader.receive(
            Self.page([Self.message(2, previous: 1), Self.message(3, previous: 2)], through: 3))
        #expect(rest == [2, 3])
        #expect(reader.receive(live: Self.message(4, previous: 3)))
    }

    @Test("Messages that retention has removed do not count as a gap")
    func pruned() {
        let reader = Reader(.after(Position(epoch: 1, offset: 0)))
        // Retention has removed the messages up to 7, and message 10, a document on another topic that was replaced.
        #expect(reader.receive(Self.page([Self.message(8, previous: 7)], through: 10)) == [8])
        #expect(reader.phase == .live)
        #expect(reader.receive(live: Self.message(11, previous: 10)))
    }

    @Test("Retained documents are delivered first, then what was published since")
    func documents() {
        let reader = Reader(.documents, head: 10)
        #expect(reader.phase == .documents(after: 0))
        #expect(reader.receive(Self.page([Self.message(4, previous: 2)], through: 10)) == [4])
        #expect(reader.phase == .journal(after: 10))
        #expect(reader.receive(Self.page([Self.message(11, previous: 4)], through: 11)) == [11])
        #expect(reader.phase == .live)
    }

    @Test("A new journal is read from its beginning")
    func newEpoch() {
        let reader = Reader()
        reader.tracker.restart(from: 0)
        #expect(reader.phase == .journal(after: 0))
        #expect(reader.receive(Self.page([Self.message(1, previous: 0)], through: 1)) == [1])
    }

    @Test("Every message is delivered once, and each partition in order, whatever the feed drops", arguments: 0..<60)
    func anyLoss(seed: UInt64) {
        var history = LossyHistory(seed: seed)
        for _ in 1...300 { history.step() }
        history.finish()
        #expect(history.delivered.sorted() == history.wanted)
        for partition in ["00", "01"] {
            let order = history.delivered(in: partition)
            #expect(order == order.sorted(), "the messages of a partition are in order")
        }
    }
}

/// A journal that grows, a feed that drops a quarter of its messages, and a tracker.
///
/// Histories with even seeds subscribe to one type, those with odd seeds to all events.
struct LossyHistory {
    private var generator: SeededGenerator
    private var tracker: FeedTracker
    private let prefix: String
    private var journal: [FeedMessage] = []
    private var heads: [String: UInt64] = [:]
    private var partitionHeads: [String: UInt64] = [:]
    private(set) var delivered: [UInt64] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        prefix = seed.isMultiple(of: 2) ? "event.A." : "event."
        tracker = FeedTracker(prefixes: [prefix], start: .now, head: 0)
    }

    /// The offsets that must have been delivered.
    var wanted: [UInt64] { journal.filter { $0.topic.hasPrefix(prefix) }.map(\.offset) }

    func delivered(in partition: String) -> [UInt64] {
        delivered.filter { journal[Int($0) - 1].topic.hasSuffix(partition) }
    }

    /// Publishes a message, which may be lost or find no room. At times it then reads a page or checks the heads.
    mutating func step() {
        let message = append()
        let (isLost, hasRoom) = (oneIn(4), !oneIn(9))
        if !isLost { deliver(tracker.receive(live: [message], room: hasRoom ? 1 : 0)) }
        if oneIn(3) { readPage() }
        if oneIn(20) {
            tracker.judge()
            recordHeads()
        }
    }

    /// Does what the client does after a second without messages.
    mutating func finish() {
        recordHeads()
        tracker.judge()
        while tracker.phase != .live { readPage() }
    }

    private mutating func append() -> FeedMessage {
        let partition = ["00", "01"].randomElement(using: &generator) ?? "00"
        let topic = "event.\(["A", "B", "C"].randomElement(using: &generator) ?? "A").\(partition)"
        let message = FeedMessage(
            topic: topic, epoch: 1, offset: UInt64(journal.count) + 1, previous: heads[topic] ?? 0,
            previousInPartition: partitionHeads[partition] ?? 0, header: [0x7b, 0x7d], data: [])
        (heads[topic], partitionHeads[partition]) = (message.offset, message.offset)
        journal.append(message)
        return message
    }

    private mutating func readPage() {
        guard case .journal(let after) = tracker.phase else { return }
        let all = journal.filter { $0.offset > after && $0.topic.hasPrefix(prefix) }
        let some = Array(all.prefix(Int.random(in: 1...5, using: &generator)))
        let isComplete = some.count == all.count
        let through = isComplete ? UInt64(journal.count) : some.last?.offset ?? after
        deliver(tracker.receive(Page(epoch: 1, through: through, isComplete: isComplete, messages: some)))
    }

    private mutating func deliver(_ deliveries: [FeedTracker.Delivery]) {
        delivered += deliveries.map(\.message.offset)
    }

    private mutating func recordHeads() {
        let offsets = heads.filter { $0.key.hasPrefix(prefix) }
        tracker.record(Heads(epoch: 1, through: UInt64(journal.count), offsets: offsets))
    }

    private mutating func oneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &generator) == 0
    }
}
