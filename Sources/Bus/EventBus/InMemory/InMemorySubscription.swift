internal import Foundation

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
    /// The journal index of the first message that has not been checked yet.
    private var next: Int
    /// The offset after which the subscription ends; nil for no end.
    private let end: UInt64?
    /// The retained documents that a subscription from ``StartPosition/retained`` reads before the journal.
    private var retained: ArraySlice<Envelope>
    /// The end of the stream that ``news()`` returned last. ``wakeUp()`` finishes it.
    private var wake: AsyncStream<Never>.Continuation?
    /// The transient messages that wait, each with the length that the journal had when it was published.
    private var transient: [(length: Int, message: Envelope)] = []

    init(
        filters: [MessageFilter], next: Int, end: UInt64? = nil, retained: ArraySlice<Envelope> = [],
        claim: ConsumerClaim? = nil
    ) {
        self.filters = filters
        self.next = next
        self.end = end
        self.retained = retained
        self.claim = claim
    }

    /// Returns a stream that ends with the next call of ``wakeUp()``.
    mutating func news() -> AsyncStream<Never> {
        let (news, continuation) = AsyncStream.makeStream(of: Never.self)
        wake = continuation
        return news
    }

    /// Lets the reader look for messages again.
    mutating func wakeUp() {
        wake?.finish()
        wake = nil
    }

    /// Adds a transient message if it matches.
    /// - Parameter length: The length of the journal.
    /// - Returns: False if the oldest waiting message was dropped to make room.
    mutating func offer(_ message: Envelope, after length: Int) -> Bool {
        guard wants(message) else { return true }
        transient.append((length, message))
        guard transient.count > Self.transientCount else { return true }
        transient.removeFirst()
        return false
    }

    /// True if no message up to the end of the subscription is left, and none can follow.
    func isAtEnd(of journal: [JournalEntry]) -> Bool {
        guard let end else { return false }
        return next < journal.count ? journal[next].offset > end : journal.last?.offset ?? 0 >= end
    }

    /// Takes the next message. Returns nil if there is none now.
    mutating func take(from journal: [JournalEntry]) -> Envelope? {
        if let document = retained.popFirst() { return document }
        let length = transient.first?.length ?? journal.count
        while next < length, journal[next].offset <= end ?? .max {
            let message = journal[next].message
            next += 1
            if wants(message) { return message }
        }
        return transient.isEmpty ? nil : transient.removeFirst().message
    }

    private func wants(_ message: Envelope) -> Bool {
        filters.contains { $0.matches(message) } && (claim?.covers(message) ?? true)
    }
}

/// A message in the journal of an ``InMemoryHub``.
struct JournalEntry: Sendable {
    let offset: UInt64
    let message: Envelope
    /// The time at which the message was recorded.
    let time: Date

    /// True if a filter selects the type of the message. The filters' subjects are ignored.
    func hasType(of filters: [MessageFilter]) -> Bool {
        filters.contains { $0.matches(message.type, subject: $0.subject ?? message.subject) }
    }
}
