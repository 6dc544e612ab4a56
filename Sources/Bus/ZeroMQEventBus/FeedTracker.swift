internal import BusProtocol
internal import EventBus

/// Decides, message by message, what one subscriber may be given, so that nothing is missing and nothing comes twice.
///
/// PUB/SUB drops silently. Every message names the one before it on its topic: a live message whose predecessor is not
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

    private(set) var phase: Phase
    /// Everything that matches is delivered up to here.
    private var base: UInt64
    /// What is delivered behind `base`, by topic: the last offset.
    private var seen: [String: UInt64] = [:]
    /// The last live message that was let go by; the journal must be read at least up to here.
    private var skipped: UInt64
    /// What had been journalled at the last look: what of it has not come by the next look is lost.
    private var expected: Heads?
    private let prefixes: [String]

    /// - Parameter head: the journal's end when the subscription became live.
    init(prefixes: [String], start: Start, head: UInt64) {
        self.prefixes = prefixes
        skipped = head
        switch start {
        case .now: (phase, base) = (.live, head)
        case .after(let position): (phase, base) = (.journal(after: position.offset), position.offset)
        case .documents: (phase, base) = (.documents(after: 0), head)
        }
    }

    /// Where to begin, within the journal of the moment.
    enum Start {
        case now
        /// Epoch 0 stands for whichever journal there is.
        case after(Position)
        case documents
    }

    /// - Parameter hasRoom: whether the reader can take another message.
    /// - Returns: whether to deliver it.
    mutating func receive(live message: FeedMessage, hasRoom: Bool) -> Bool {
        guard concerns(message.topic) else { return false }
        // What is not journalled stands in no chain: it is for whoever has time for it now.
        if message.offset == 0 { return phase == .live && hasRoom }
        guard message.offset > known(message.topic) else { return false }
        guard phase == .live, hasRoom, !message.isAnnouncement, message.previous <= known(message.topic) else {
            recover(through: message.offset)
            return false
        }
        seen[message.topic] = message.offset
        return true
    }

    /// - Returns: what to deliver.
    mutating func receive(_ page: Page) -> [FeedMessage] {
        switch phase {
        case .live: return []
        case .documents:
            for message in page.messages {
                seen[message.topic] = message.offset
            }
            phase = page.isComplete ? .journal(after: base) : .documents(after: page.through)
            return page.messages
        case .journal:
            let new = page.messages.filter { $0.offset > known($0.topic) }
            advance(to: page.through)
            phase = page.isComplete && page.through >= skipped ? .live : .journal(after: base)
            return new
        }
    }

    /// Takes note of what has been journalled; ``judge()`` holds the feed to it later.
    mutating func note(_ heads: Heads) {
        expected = heads
    }

    /// Looks whether what was noted has come.
    mutating func judge() {
        guard let heads = expected else { return }
        expected = nil
        guard phase == .live else { return }
        let missing = heads.offsets.filter { concerns($0) && $1 > known($0) }
        if let last = missing.values.max() {
            recover(through: last)
        } else {
            advance(to: heads.through)
        }
    }

    /// Begins anew with a journal that replaced the one before: everything in it is new.
    mutating func restart() {
        self = FeedTracker(prefixes: prefixes, start: .after(Position(epoch: 0, offset: 0)), head: 0)
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

    private func known(_ topic: String) -> UInt64 {
        seen[topic] ?? base
    }

    private func concerns(_ topic: String) -> Bool {
        prefixes.contains { topic.hasPrefix($0) }
    }
}
