internal import BusProtocol
internal import EventBus

/// Decides, message by message, what one subscriber may be given, so that nothing is missing, nothing comes twice, and the
/// messages of one subject come in order.
///
/// PUB/SUB drops silently. Every message names the one before it in its ``Chain``: a live message whose predecessor is not
/// known shows a gap. Then the tracker stops taking live messages and reads pages of the journal from ``base`` on, until a
/// page ends behind every live message that it let go by. A reader that is slow is treated the same way, so that what it
/// has not asked for waits in the journal. It is a value: what to read and what to deliver is told to whoever does the I/O.
struct FeedTracker {
    /// Where the next messages come from.
    enum Phase: Equatable {
        case live
        /// From the journal, behind this offset.
        case journal(after: UInt64)
        /// From the retained documents, behind this offset; then from the journal.
        case documents(after: UInt64)
    }

    /// Where to begin, within the journal of the moment.
    enum Start {
        case now
        /// Epoch 0 stands for whichever journal there is.
        case after(Position)
        case documents
    }

    /// A message that may be delivered.
    struct Delivery {
        let message: FeedMessage
        /// Up to here everything came before it.
        let settled: UInt64
    }

    private(set) var phase: Phase
    /// Everything that matches is delivered up to here.
    private(set) var base: UInt64
    /// What is delivered behind `base`, by chain: the last offset.
    private var seen: [Substring: UInt64] = [:]
    /// The last live message that was let go by; the journal must be read at least up to here.
    private var skipped: UInt64
    /// What had been journalled at the last look: what of it has not come by the next look is lost.
    private var expected: Heads?
    private var gaps: FeedGaps
    /// Whether anybody wants to know of losses: looking for them takes its time with each message.
    private let isWatched: Bool
    /// Behind this offset every message is to come; nil until the first page, of which whoever begins at the journal's
    /// beginning takes what retention has left.
    private var promised: UInt64?
    /// What was lost, until somebody asks.
    private var notices: [SubscriptionNotice] = []
    private let prefixes: [String]
    private let chain: Chain
    /// What it was asked for: where it begins in another journal depends on it.
    private let origin: Start

    /// - Parameter head: the journal's end when the subscription became live.
    init(prefixes: [String], start: Start, head: UInt64, isWatched: Bool = true) {
        self.init(prefixes: prefixes, start: start, origin: start, head: head, isWatched: isWatched)
    }

    private init(prefixes: [String], start: Start, origin: Start, head: UInt64, isWatched: Bool) {
        self.prefixes = prefixes
        self.isWatched = isWatched
        self.origin = origin
        chain = Chain(prefixes: prefixes)
        (skipped, gaps) = (head, FeedGaps(head: head))
        switch start {
        case .now: (phase, base) = (.live, head)
        case .after(let position): (phase, base) = (.journal(after: position.offset), position.offset)
        case .documents: (phase, base) = (.documents(after: 0), head)
        }
        promised = base > 0 ? base : nil
    }

    /// - Parameters:
    ///   - messages: of one topic.
    ///   - room: how many messages the reader can take.
    /// - Returns: what to deliver.
    mutating func receive(live messages: [FeedMessage], room: Int) -> [Delivery] {
        guard let topic = messages.first?.topic, concerns(topic) else { return [] }
        let key = chain.key(topic)
        var deliveries: [Delivery] = []
        deliveries.reserveCapacity(messages.count)
        for message in messages {
            if let delivery = receive(live: message, of: key, hasRoom: deliveries.count < room) {
                deliveries.append(delivery)
            }
        }
        return deliveries
    }

    private mutating func receive(live message: FeedMessage, of key: Substring, hasRoom: Bool) -> Delivery? {
        // What is not journalled stands in no chain: it is for whoever has time for it now.
        if message.offset == 0 { return phase == .live && hasRoom ? Delivery(message: message, settled: 0) : nil }
        guard message.offset > known(key) else { return nil }
        guard phase == .live, hasRoom, !message.isAnnouncement, chain.previous(message) <= known(key) else {
            if isWatched {
                gaps.pass(message.offset, previous: chain.previous(message), of: key, known: known(key))
            }
            recover(through: message.offset)
            return nil
        }
        seen[key] = message.offset
        return Delivery(message: message, settled: base)
    }

    /// - Returns: what to deliver.
    mutating func receive(_ page: Page) -> [Delivery] {
        switch phase {
        case .live: return []
        case .documents:
            phase = page.isComplete ? .journal(after: base) : .documents(after: page.through)
            // What was published since comes from the journal: with it whatever was withdrawn meanwhile.
            return page.messages.filter { $0.offset <= base }.map { Delivery(message: $0, settled: base) }
        case .journal:
            let new = page.messages.filter { $0.offset > known(chain.key($0.topic)) }
            if isWatched { note(page, new: new) }
            advance(to: page.through)
            phase = page.isComplete && page.through >= skipped ? .live : .journal(after: base)
            // All that was missing has come.
            if phase == .live { gaps.close() }
            return new.map { Delivery(message: $0, settled: $0.offset) }
        }
    }

    /// Takes note of what has been journalled; ``judge()`` holds the feed to it later. What was noted before and not judged
    /// still counts: later heads tell only of topics that have grown since.
    mutating func note(_ heads: Heads) {
        let earlier = expected?.offsets ?? [:]
        expected = Heads(
            epoch: heads.epoch, through: heads.through, offsets: earlier.merging(heads.offsets) { max($0, $1) })
    }

    /// Looks whether what was noted has come.
    /// - Returns: whether something is missing that the feed had time to bring.
    @discardableResult
    mutating func judge() -> Bool {
        guard let heads = expected else { return false }
        expected = nil
        guard phase == .live else { return false }
        let missing = heads.offsets.filter { concerns($0) && $1 > known(chain.key($0)) }
        if let last = missing.values.max() {
            for (topic, offset) in missing {
                let key = chain.key(topic)
                gaps.add(known(key) + 1...offset, of: key)
            }
            recover(through: last)
            return true
        }
        advance(to: heads.through)
        return false
    }

    /// Begins anew in another epoch.
    /// - Parameter offset: where the epoch began. What is up to there was there before, and is nothing new to a subscriber
    ///   from now.
    mutating func restart(from offset: UInt64) {
        let start: Start =
            switch origin {
            case .now: .after(Position(epoch: 0, offset: offset))
            case .documents: .documents
            case .after: .after(Position(epoch: 0, offset: 0))
            }
        self = FeedTracker(prefixes: prefixes, start: start, origin: origin, head: offset, isWatched: isWatched)
    }

    /// Goes back to the end of a journal that has lost what came after it: what comes there now is new.
    mutating func takeBack(to head: UInt64) {
        base = min(base, head)
        seen = seen.mapValues { min($0, head) }.filter { $0.value > base }
        (skipped, expected, gaps) = (min(skipped, head), nil, FeedGaps(head: head))
        promised = promised.map { min($0, head) }
        if case .documents(let after) = phase {
            phase = .documents(after: min(after, head))
        } else {
            phase = .journal(after: base)
        }
    }

    /// What was lost since this was last asked.
    mutating func takeNotices() -> [SubscriptionNotice] {
        defer { notices = [] }
        return notices
    }

    /// - Parameter new: the messages of the page that had not come before.
    private mutating func note(_ page: Page, new: [FeedMessage]) {
        notices += gaps.count(new, in: chain).map { .recovered($0, count: $1) }
        for message in new where isBehindRemoval(message, in: page) {
            guard let type = Topic(message.topic)?.type else { continue }
            notices.append(.removed(type, through: message.previous))
        }
        promised = promised ?? page.through
    }

    /// Whether the message names one before it that neither came nor stands in the page. Of documents only the last are
    /// promised.
    private func isBehindRemoval(_ message: FeedMessage, in page: Page) -> Bool {
        guard let promised, message.previous > max(promised, known(chain.key(message.topic))) else { return false }
        return !page.holds(message.previous) && !message.topic.hasPrefix("document.")
    }

    private mutating func recover(through offset: UInt64) {
        skipped = max(skipped, offset)
        if phase == .live {
            phase = .journal(after: base)
        }
    }

    private mutating func advance(to offset: UInt64) {
        guard offset > base else { return }
        base = offset
        seen = seen.filter { $0.value > offset }
    }

    private func known(_ key: Substring) -> UInt64 {
        seen[key] ?? base
    }

    private func concerns(_ topic: String) -> Bool {
        prefixes.contains { topic.hasPrefix($0) }
    }
}

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

/// By which of its predecessors a subscriber knows that nothing is missing before a message.
///
/// One type: by the message before on the same topic. Several types: by the message before in the same partition, whatever
/// its type, for only that keeps the messages of one subject in order; where it is of a type that was not subscribed to,
/// the journal has to be asked.
enum Chain {
    case topic
    case partition

    init(prefixes: [String]) {
        // `event.` alone is a kind, and so many types.
        let isOneType = prefixes.count == 1 && prefixes.allSatisfy { $0.split(separator: ".").count > 1 }
        self = isOneType ? .topic : .partition
    }

    func key(_ topic: String) -> Substring {
        switch self {
        case .topic: topic[...]
        case .partition: topic.suffix(2)
        }
    }

    func previous(_ message: FeedMessage) -> UInt64 {
        switch self {
        case .topic: message.previous
        case .partition: message.previousInPartition
        }
    }
}

extension Page {
    /// Whether there is or was a message at an offset: they are in order, those that are damaged beside them.
    func holds(_ offset: UInt64) -> Bool {
        var range = messages.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if messages[middle].offset == offset { return true }
            range = messages[middle].offset < offset ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return damaged.contains(offset)
    }
}
