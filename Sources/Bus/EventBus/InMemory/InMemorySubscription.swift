internal import Foundation
internal import Support

/// The progress of one reader in the journal. It holds no messages except transient ones, and the retained documents at
/// its start.
struct InMemorySubscription: Identifiable {
    /// The maximum number of transient messages that wait for a reader. Beyond it the oldest one is dropped.
    private static let transientCount = 1024

    let id = UUID()
    private let filters: [MessageFilter]
    /// The claim that the reader reads under; nil for an ordinary subscription. Only messages that the claim covers are
    /// delivered, and only while the claim matches the partitions of its member.
    let claim: ConsumerClaim?
    /// The oldest message that the reader of a claim has received and not finished. Nil if the reader finishes each
    /// message before it asks for the next one.
    private let progress: ConsumerProgress?
    /// The offset up to which the messages were checked.
    private(set) var passed: UInt64
    /// The offset at which the subscription ends; nil for no end.
    private let end: UInt64?
    /// The retained documents that a subscription from ``StartPosition/retained`` reads before the journal.
    private var retained: ArraySlice<Envelope>
    /// The latch that ``news()`` returned last; nil after ``wakeUp()`` has opened it.
    private var wake: Latch?
    /// The transient messages that wait, each with the end that the journal had when it was published.
    private var transient: [(after: UInt64, message: Envelope)] = []

    init(
        filters: [MessageFilter], after offset: UInt64, end: UInt64? = nil, retained: ArraySlice<Envelope> = [],
        claim: ConsumerClaim? = nil, progress: ConsumerProgress? = nil
    ) {
        self.filters = filters
        passed = offset
        self.end = end
        self.retained = retained
        self.claim = claim
        self.progress = progress
    }

    /// Returns a latch that the next call of ``wakeUp()`` opens.
    mutating func news() -> Latch {
        let news = Latch()
        wake = news
        return news
    }

    /// Lets the reader look for messages again.
    mutating func wakeUp() {
        wake?.open()
        wake = nil
    }

    /// Adds a transient message if it matches.
    /// - Parameter offset: The end of the journal.
    /// - Returns: False if the oldest waiting message was dropped to make room.
    mutating func offer(_ message: Envelope, after offset: UInt64) -> Bool {
        guard wants(message) else { return true }
        transient.append((offset, message))
        guard transient.count > Self.transientCount else { return true }
        transient.removeFirst()
        return false
    }

    var isAtEnd: Bool { end.map { passed >= $0 } ?? false }

    /// The offset up to which the reader of a claim has handled all its messages, if the reader waits for a message
    /// now.
    var settled: UInt64 { progress?.settled(delivered: passed) ?? passed }

    /// Dequeues the next message. Returns nil if there is none now.
    mutating func dequeue(from journal: InMemoryJournal) -> Envelope? {
        if let document = retained.popFirst() { return document }
        let end = min(transient.first?.after ?? journal.end.offset, end ?? .max)
        // A new reader may begin before the oldest message.
        passed = max(passed, min(journal.base, end))
        while let message = journal.first(after: passed), let offset = message.position?.offset, offset <= end {
            passed = offset
            if wants(message) { return message }
        }
        passed = max(passed, end)
        return transient.isEmpty ? nil : transient.removeFirst().message
    }

    private func wants(_ message: Envelope) -> Bool {
        filters.contains { $0.matches(message) } && (claim?.covers(message) ?? true)
    }
}
