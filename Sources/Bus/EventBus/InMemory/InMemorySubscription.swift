internal import Foundation

/// How far one reader has come in the journal. It holds no messages but the documents it began with and what is transient.
struct InMemorySubscription: Identifiable {
    /// How many transient messages wait for a reader.
    private static let transientCount = 1024

    let id = UUID()
    private let filters: [MessageFilter]
    /// Only what this covers, and only while it says what its member owns.
    let claim: ConsumerClaim?
    /// The index in the journal of the first message not looked at yet.
    private var next: Int
    /// The length of the journal behind which nothing is given; nil for no end.
    private let end: Int?
    /// What a subscription from ``StartPosition/retained`` has yet to read before the journal.
    private var retained: ArraySlice<Envelope>
    /// Finished when something new is there.
    private var wake: AsyncStream<Never>.Continuation?
    /// Each with the length of the journal behind which it came.
    private var transient: [(behind: Int, message: Envelope)] = []

    init(
        filters: [MessageFilter], next: Int, end: Int? = nil, retained: ArraySlice<Envelope> = [],
        claim: ConsumerClaim? = nil
    ) {
        self.filters = filters
        self.next = next
        self.end = end
        self.retained = retained
        self.claim = claim
    }

    /// A stream that ends with the next call of ``wakeUp()``.
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

    /// Takes a transient message in, if it is wanted.
    /// - Returns: false if the oldest had to go for it.
    mutating func offer(_ message: Envelope, behind length: Int) -> Bool {
        guard wants(message) else { return true }
        transient.append((length, message))
        guard transient.count > Self.transientCount else { return true }
        transient.removeFirst()
        return false
    }

    var isAtEnd: Bool { end.map { next >= $0 } ?? false }

    mutating func take(from journal: [JournalEntry]) -> Envelope? {
        if let document = retained.popFirst() { return document }
        let end = min(transient.first?.behind ?? journal.count, end ?? .max)
        while next < end {
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
    let message: Envelope
    /// When it was journalled.
    let time: Date

    /// Whether one of these filters takes messages of its type, whoever they are for.
    func hasType(of filters: [MessageFilter]) -> Bool {
        filters.contains { $0.matches(message.type, subject: $0.subject ?? message.subject) }
    }
}
