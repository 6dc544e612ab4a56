internal import BusProtocol
internal import EventBus

/// What the feed has dropped of a subscription, as its chains show: also while it reads the journal and lets the feed go by.
struct FeedGaps {
    /// Of each chain; beyond it two that are near count as one, with what came between them.
    private static let capacity = 16

    /// The last message of each chain that was let go by.
    private var passed: [Substring: UInt64] = [:]
    /// The last of them all: the feed keeps the order, so what is before it and not yet there does not come.
    private var last: UInt64 = 0
    private var gaps: [Substring: [ClosedRange<UInt64>]] = [:]
    /// What stands behind this was to come over the feed.
    private let head: UInt64

    /// - Parameter head: the journal's end when the subscription became live.
    init(head: UInt64) {
        self.head = head
    }

    /// Takes note of a message that is to come from the journal.
    /// - Parameters:
    ///   - previous: the one before it in its chain.
    ///   - known: up to where nothing of the chain is missing.
    mutating func pass(_ offset: UInt64, previous: UInt64, of key: Substring, known: UInt64) {
        let before = max(passed[key] ?? 0, known, head)
        if previous > before { add(before + 1...previous, of: key) }
        passed[key] = max(before, offset)
        last = max(last, offset)
    }

    /// Takes note of messages that have not come.
    mutating func add(_ offsets: ClosedRange<UInt64>, of key: Substring) {
        var ranges = gaps[key] ?? []
        let nearest = ranges.count == Self.capacity ? ranges.removeLast() : offsets
        ranges.append(nearest.lowerBound...max(nearest.upperBound, offsets.upperBound))
        gaps[key] = ranges
    }

    /// Begins anew: all that was missing has come.
    mutating func close() {
        self = FeedGaps(head: head)
    }

    /// How many messages of a page the feed has dropped, by type.
    func count(_ messages: [FeedMessage], in chain: Chain) -> [MessageType: Int] {
        guard last > 0 || !gaps.isEmpty else { return [:] }
        return messages.reduce(into: [:]) { counts, message in
            guard has(dropped: message.offset, of: chain.key(message.topic)),
                let type = Topic(message.topic)?.type
            else { return }
            counts[type, default: 0] += 1
        }
    }

    private func has(dropped offset: UInt64, of key: Substring) -> Bool {
        if let gaps = gaps[key], gaps.contains(where: { $0.contains(offset) }) { return true }
        return offset > max(passed[key] ?? 0, head) && offset < last
    }
}
