internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Support

/// Decides for each message if a subscription may deliver it.
///
/// The feed can drop messages. A recorded message names its predecessor (see ``Chain``). If the predecessor of a live
/// message has not been received, or the reader has no room for the message, the tracker skips recorded live messages.
/// It then needs pages of the journal after ``base``, until a page reaches the last skipped message. The tracker is a
/// value without side effects: its owner requests the pages and delivers the messages.
struct FeedTracker {
    /// The source of the next messages.
    enum Phase: Equatable {
        case live
        /// The journal, after this offset.
        case journal(after: UInt64)
        /// The retained documents after this offset, then the journal.
        case documents(after: UInt64)
    }

    /// The start of a subscription in the current journal.
    enum Start {
        case now
        /// The first message after a position. Epoch 0 means any journal.
        case after(Position)
        case documents
    }

    /// A message that may be delivered.
    struct Delivery {
        let message: FeedMessage
        /// Once this message is delivered, no matching message of the journal up to this offset remains to be
        /// delivered. Without meaning for transient messages, and for the documents at the start of a subscription.
        let settled: UInt64
    }

    private(set) var phase: Phase
    /// The offset up to which no matching message of the journal remains to be delivered, apart from the documents at
    /// the start.
    private(set) var base: UInt64
    /// The last delivered offset of each chain, if it is after `base`.
    private var seen: [Substring: UInt64] = [:]
    /// The highest offset of the messages that were skipped or are missing; at first the end of the journal. The
    /// journal must be read at least up to this offset.
    private var skipped: UInt64
    /// The last offsets of topics when the broker was last asked; nil after a check. A message up to these offsets that
    /// does not arrive before the next check counts as dropped by the feed.
    private var expected: Heads?
    private var gaps: FeedGaps
    /// True if the subscription reports losses.
    private let isWatched: Bool
    /// The offset after which a missing message is a loss. `nil` until the first page if the subscription is from the
    /// beginning: it starts at the oldest message that retention has kept.
    private var promised: UInt64?
    /// The losses since the last call of ``drainNotices()``.
    private var notices: [SubscriptionNotice] = []
    private let prefixes: [String]
    private let chain: Chain
    /// The start that was requested. The start in another journal depends on it.
    private let origin: Start

    /// - Parameter head: The end of the journal when the subscription became live.
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

    /// Handles live messages.
    /// - Parameters:
    ///   - messages: All of one topic.
    ///   - room: The number of messages that the reader can accept.
    /// - Returns: The messages to deliver.
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
        // Transient messages are in no chain. They are delivered only if the subscription is live and has room.
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

    /// Handles a page.
    /// - Returns: The messages to deliver.
    mutating func receive(_ page: Page) -> [Delivery] {
        switch phase {
        case .live: return []
        case .documents:
            phase = page.isComplete ? .journal(after: base) : .documents(after: page.through)
            // Documents that were published after `base` are read from the journal, together with withdrawals.
            return page.messages.filter { $0.offset <= base }.map { Delivery(message: $0, settled: base) }
        case .journal:
            let new = page.messages.filter { $0.offset > known(chain.key($0.topic)) }
            if isWatched { record(page, new: new) }
            advance(to: page.through)
            phase = page.isComplete && page.through >= skipped ? .live : .journal(after: base)
            // All missing messages have arrived.
            if phase == .live { gaps.close() }
            return new.map { Delivery(message: $0, settled: $0.offset) }
        }
    }

    /// Records the last offsets of topics, which ``judge()`` checks later. Offsets that were recorded before and not
    /// checked yet still count: later heads only contain topics that have grown since.
    mutating func record(_ heads: Heads) {
        let earlier = expected?.offsets ?? [:]
        expected = Heads(
            epoch: heads.epoch, through: heads.through, offsets: earlier.merging(heads.offsets) { max($0, $1) })
    }

    /// Checks if all messages up to the recorded offsets have arrived. If not, the tracker reads them from the journal.
    /// - Returns: True if a message is missing that the feed had time to bring.
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

    /// Starts again in another epoch.
    /// - Parameter offset: The offset at which the epoch began. Messages up to it existed before, and are not new to a
    ///   subscription from now.
    mutating func restart(from offset: UInt64) {
        let start: Start =
            switch origin {
            case .now: .after(Position(epoch: 0, offset: offset))
            case .documents: .documents
            case .after: .after(Position(epoch: 0, offset: 0))
            }
        self = FeedTracker(prefixes: prefixes, start: start, origin: origin, head: offset, isWatched: isWatched)
    }

    /// Goes back to the end of a journal that has lost its last messages. New messages will take their offsets.
    mutating func rewind(to head: UInt64) {
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

    /// Returns and removes the losses since the last call.
    mutating func drainNotices() -> [SubscriptionNotice] {
        defer { notices = [] }
        return notices
    }

    /// Records the losses that a page shows.
    /// - Parameter new: The messages of the page that had not arrived before.
    private mutating func record(_ page: Page, new: [FeedMessage]) {
        notices += gaps.count(new, in: chain).map { .recovered($0, count: $1) }
        for message in new where isBehindRemoval(message, in: page) {
            guard let type = Topic(message.topic)?.type else { continue }
            notices.append(.removed(type, through: message.previous))
        }
        promised = promised ?? page.through
    }

    /// True if the previous message of the topic has not arrived and is not in the page: retention has removed it.
    /// Always false for documents.
    private func isBehindRemoval(_ message: FeedMessage, in page: Page) -> Bool {
        guard let promised, message.previous > max(promised, known(chain.key(message.topic))) else { return false }
        return !page.holds(message.previous) && !message.topic.begins(with: "document.")
    }

    /// Continues to read the journal, at least up to an offset, unless that was done already.
    mutating func recover(through offset: UInt64) {
        guard offset > base else { return }
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
        prefixes.contains { topic.begins(with: $0) }
    }
}

/// Finds the messages of a subscription that the feed has dropped, by their chains.
struct FeedGaps {
    /// The maximum number of gaps of a chain. If there are more, the last gap is extended over the new one, including
    /// the messages between them.
    private static let capacity = 16

    /// The offset of the last skipped message of each chain.
    private var passed: [Substring: UInt64] = [:]
    /// The highest offset of all skipped messages. The feed keeps the order, so an earlier message that has not arrived
    /// will not arrive.
    private var last: UInt64 = 0
    private var gaps: [Substring: [ClosedRange<UInt64>]] = [:]
    /// The end of the journal when the subscription became live. Later messages should arrive on the feed.
    private let head: UInt64

    /// - Parameter head: The end of the journal when the subscription became live.
    init(head: UInt64) {
        self.head = head
    }

    /// Records a live message that was skipped, and will be read from the journal.
    /// - Parameters:
    ///   - previous: The offset of its predecessor in the chain.
    ///   - known: The offset up to which no message of the chain is missing.
    mutating func pass(_ offset: UInt64, previous: UInt64, of key: Substring, known: UInt64) {
        let before = max(passed[key] ?? 0, known, head)
        if previous > before { add(before + 1...previous, of: key) }
        passed[key] = max(before, offset)
        last = max(last, offset)
    }

    /// Records offsets at which messages have not arrived.
    mutating func add(_ offsets: ClosedRange<UInt64>, of key: Substring) {
        var ranges = gaps[key] ?? []
        let nearest = ranges.count == Self.capacity ? ranges.removeLast() : offsets
        ranges.append(nearest.lowerBound...max(nearest.upperBound, offsets.upperBound))
        gaps[key] = ranges
    }

    /// Starts again, because all missing messages have arrived.
    mutating func close() {
        self = FeedGaps(head: head)
    }

    /// The number of the messages that the feed has dropped, by type.
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

/// The predecessor by which a subscription detects that a message is missing.
///
/// For a single filter that selects one type, it is the previous message of the same topic. Otherwise it is the
/// previous message of the same partition, of whatever type.
enum Chain {
    case topic
    case partition

    init(prefixes: [String]) {
        // A prefix such as `event.` is a whole kind, that is several types.
        let isOneType = prefixes.count == 1 && prefixes.allSatisfy { $0.split(scalar: ".").count > 1 }
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
    /// True if the page has a message at the offset, readable or damaged. Messages are sorted by offset.
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
