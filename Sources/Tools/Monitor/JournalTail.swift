internal import EventBus

/// Reads a journal from an end towards its beginning, in stretches that double: whoever looks for what is new reads little of
/// a long one.
struct JournalTail {
    private let bus: any EventBus
    /// What stands behind this has been read.
    private(set) var start: Position
    /// Messages of the next stretch; the first takes about one answer of a broker.
    private var length: UInt64 = 256

    init(of bus: any EventBus, end: Position) {
        self.bus = bus
        start = end
    }

    /// Reads the next stretch, in the order of the journal. Retention may have left nothing of it.
    /// - Parameter limit: an offset behind which nothing more is wanted.
    /// - Returns: false when there is none.
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

/// The last message of each type that a selection takes.
struct LastMessages {
    /// The broker takes only so many filters at a time.
    private static let filterLimit = 256

    private let selection: MessageSelection
    /// Where the newest message stands of each type that none was found of yet.
    private var sought: [MessageType: Position]
    private var found: [Envelope] = []

    /// Reads them from a journal, from its end on: about as far back as the oldest of them stands, and to the beginning only
    /// if of some type there is none.
    /// - Parameters:
    ///   - end: behind it nothing is wanted.
    ///   - isWanted: whether one that the selection takes is wanted.
    /// - Returns: them in the order of the journal.
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
