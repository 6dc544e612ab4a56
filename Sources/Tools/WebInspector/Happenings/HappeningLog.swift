internal import DequeModule
internal import EventBus
internal import Monitor

/// The newest things that have happened on the bus, as rows of a list, oldest first.
struct HappeningLog: Sendable {
    /// The maximum number of rows.
    static let limit = 1000

    /// A random text that distinguishes the ids of this process from those of others.
    private let run: String
    private var happenings = Happenings()
    /// The number of hidden messages of former journals.
    private var formerlyHidden = 0
    private(set) var rows: Deque<HappeningRow> = []
    /// The number of rows that were made.
    private var count = 0

    init(run: String) {
        self.run = run
    }

    /// The number of messages that no row tells.
    var hidden: Int { formerlyHidden + happenings.hiddenCount }

    /// Forgets the state, because the next message is from another journal. The rows stay.
    mutating func forgetState() {
        formerlyHidden = hidden
        happenings = Happenings()
    }

    /// Learns the state before the next message.
    mutating func learn(_ documents: some Sequence<Envelope>) {
        for document in documents { happenings.learn(document) }
    }

    /// Handles the next message.
    /// - Returns: The row that the message has begun or joined. Nil if no row tells the message.
    mutating func handle(_ message: Envelope) -> HappeningRow? {
        let hidden = happenings.hiddenCount
        _ = happenings.handle(message)
        guard happenings.hiddenCount == hidden, let happening = happenings.pending else { return nil }
        if happening.messages.count > 1, let last = rows.indices.last {
            rows[last].update(happening)
        } else {
            count += 1
            rows.append(HappeningRow(happening, id: "\(run)-\(count)", first: message))
            if rows.count > Self.limit { rows.removeFirst() }
        }
        return rows.last
    }
}
