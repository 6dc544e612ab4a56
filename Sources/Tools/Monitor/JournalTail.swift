internal import EventBus

/// Reads a journal from its end towards its beginning, in stretches of doubling length: a search for a recent message
/// reads only a small part of a long journal.
struct JournalTail {
    private let bus: any EventBus
    /// The position after which nothing remains to be read.
    private(set) var start: Position
    /// The number of messages in the next stretch. The first stretch is about as long as one page of the broker.
    private var length: UInt64 = 256

    init(of bus: any EventBus, end: Position) {
        self.bus = bus
        start = end
    }

    /// Reads the next stretch, in journal order. A stretch can be empty because retention has removed its messages.
    /// - Parameter limit: The last offset to read.
    /// - Returns: False if the journal has been read to its beginning.
    mutating func readStretch(
        _ filters: [MessageFilter], through limit: UInt64 = .max, _ take: (Envelope) -> Void
    ) async throws -> Bool {
        let end = Position(epoch: start.epoch, offset: min(start.offset, limit))
        guard end.offset > 0 else { return false }
        start = Position(epoch: end.epoch, offset: end.offset - min(end.offset, length))
        length *= 2
        try await bus.withSubscription(to: filters, from: .after(start), until: end, onNotice: nil) {
            for try await message in $0 { take(message) }
        }
        return true
    }
}

/// The last message of each type that a selection matches.
struct LastMessages {
    /// The number of types beyond which the selection's own filters are used: the broker accepts a limited number of
    /// filters.
    private static let filterLimit = 256

    private let selection: MessageSelection
    /// The types without a matching message so far, and the position of the newest message of each type.
    private var sought: [MessageType: Position]
    private var found: [Envelope] = []

    /// Reads the messages of a journal, from its end backwards. It reads about as far as the oldest of them, and to the
    /// journal's beginning only if a type has no matching message.
    /// - Parameters:
    ///   - end: The last position to read.
    ///   - isWanted: A further condition on the messages that the selection matches.
    /// - Returns: The messages in journal order.
    static func read(
        from bus: any EventBus, _ selection: MessageSelection, until end: Position,
        where isWanted: (Envelope) -> Bool
    ) async throws -> [Envelope] {
        let newest = try await bus.newestOfEachType(matching: selection.filters)
        var last = LastMessages(selection: selection, sought: newest.filter { selection.matches($0.key) })
        var tail = JournalTail(of: bus, end: end)
        while let newest = last.sought.values.map(\.offset).max() {
            var stretch: [MessageType: Envelope] = [:]
            let isRead = try await tail.readStretch(last.filters, through: newest) { message in
                if selection.matches(message), isWanted(message) { stretch[message.type] = message }
            }
            guard isRead else { break }
            last.take(stretch)
        }
        return last.found.sorted { ($0.position?.offset ?? 0) < ($1.position?.offset ?? 0) }
    }

    private init(selection: MessageSelection, sought: [MessageType: Position]) {
        self.selection = selection
        self.sought = sought
    }

    private mutating func take(_ messages: [MessageType: Envelope]) {
        for (type, message) in messages where sought.removeValue(forKey: type) != nil { found.append(message) }
    }

    private var filters: [MessageFilter] {
        guard sought.count <= Self.filterLimit else { return selection.filters }
        return sought.keys.map { .type($0, subject: selection.subject) }
    }
}
