internal import EventBus

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
