import BusProtocol
import SeededRandom

@testable import ZeroMQEventBus

/// A journal that grows, a feed that drops a quarter of it, and a tracker that has to cope.
///
/// Even seeds subscribe to one type, odd ones to all.
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

    /// One more message, which may be lost or find no room, then perhaps a page and a look at the heads.
    mutating func step() {
        let message = append()
        let (isLost, hasRoom) = (oneIn(4), !oneIn(9))
        if !isLost { deliver(tracker.receive(live: [message], room: hasRoom ? 1 : 0)) }
        if oneIn(3) { readPage() }
        if oneIn(20) {
            tracker.judge()
            noteHeads()
        }
    }

    /// What a second of silence does.
    mutating func finish() {
        noteHeads()
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

    private mutating func noteHeads() {
        let offsets = heads.filter { $0.key.hasPrefix(prefix) }
        tracker.note(Heads(epoch: 1, through: UInt64(journal.count), offsets: offsets))
    }

    private mutating func oneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &generator) == 0
    }
}
