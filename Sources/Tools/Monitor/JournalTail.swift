package import EventBus

/// Reads a journal from its end towards its beginning, in stretches. Each stretch is up to twice as long as the stretch
/// before.
package struct JournalTail {
    private let bus: EventBus
    /// The position before the last stretch that was read. Before the first stretch is read, the end of the part to
    /// read.
    package private(set) var start: Position
    /// About the number of messages, of any type, in the stretches that were read.
    package private(set) var searched = 0
    /// About the number of messages, of any type, in the next stretch.
    private var length = 256
    private static let longest = 1 << 40

    package init(of bus: EventBus, end: Position) {
        self.bus = bus
        start = end
    }

    /// Reads the next stretch, in journal order. A stretch can have no matching message.
    /// - Parameters:
    ///   - limit: The last offset to read. Later offsets of the stretch are left out.
    ///   - body: Called with each matching message.
    /// - Returns: False, without reading, if nothing is left to read.
    package mutating func readStretch(
        _ filters: [MessageFilter], through limit: UInt64 = .max, _ body: (Envelope) -> Void
    ) async throws -> Bool {
        let end = Position(epoch: start.epoch, offset: min(start.offset, limit))
        guard end.offset > 0 else { return false }
        start = try await bus.inspect.position(end, offsetBy: -length)
        searched += length
        length = min(2 * length, Self.longest)
        try await bus.withSubscription(to: filters, from: .after(start), until: end, onNotice: nil) {
            for try await message in $0 { body(message) }
        }
        return true
    }
}

/// The last message of each type that a selection matches.
struct LastMessageOfEachType {
    /// The maximum number of filters with one type each. For more types, the selection's own filters are used.
    private static let filterLimit = 256

    private let selection: MessageSelection
    /// The types without a matching message so far. The values are the positions of the newest messages of the types.
    private var sought: [MessageType: Position]
    private var found: [Envelope] = []

    /// Reads the last matching message of each type, from the end of the journal backwards. Reading ends when a message
    /// of each type has been found. If a type has no matching message, the journal is read to its beginning.
    /// - Parameters:
    ///   - end: The last position to read.
    ///   - isWanted: A further condition on the messages that the selection matches.
    /// - Returns: The messages in journal order.
    static func read(
        from bus: EventBus, _ selection: MessageSelection, until end: Position,
        where isWanted: (Envelope) -> Bool
    ) async throws -> [Envelope] {
        let newest = try await bus.inspect.newestOfEachType(matching: selection.filters)
        var last = LastMessageOfEachType(selection: selection, sought: newest.filter { selection.matches($0.key) })
        var tail = JournalTail(of: bus, end: end)
        while let newest = last.sought.values.map(\.offset).max() {
            var stretch: [MessageType: Envelope] = [:]
            let isRead = try await tail.readStretch(last.filters, through: newest) { message in
                if selection.matches(message), isWanted(message) { stretch[message.type] = message }
            }
            guard isRead else { break }
            last.record(stretch)
        }
        return last.found.sorted { ($0.position?.offset ?? 0) < ($1.position?.offset ?? 0) }
    }

    private init(selection: MessageSelection, sought: [MessageType: Position]) {
        self.selection = selection
        self.sought = sought
    }

    private mutating func record(_ messages: [MessageType: Envelope]) {
        for (type, message) in messages where sought.removeValue(forKey: type) != nil { found.append(message) }
    }

    private var filters: [MessageFilter] {
        guard sought.count <= Self.filterLimit else { return selection.filters }
        return sought.keys.map { .type($0, subject: selection.subject) }
    }
}
