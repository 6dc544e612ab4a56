/// The state of a bus, for tools. ``EventBus/inspect`` returns it. Only ``forget(consumer:)`` changes it.
public struct BusInspection: Sendable {
    private let engine: any InspectableEngine

    init(_ engine: any InspectableEngine) {
        self.engine = engine
    }

    // MARK: The journal

    /// The end of the journal: the position of the last recorded message, or offset 0. It is never before a batch that
    /// any publisher had recorded when this method was called. Nothing is recorded, so this works while the journal
    /// cannot be written.
    public func end() async throws -> Position { try await engine.end() }

    /// The position of the newest message of each type that a filter selects, even if retention has removed that
    /// message. A bus may ignore the subjects of the filters.
    public func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        try await engine.newestOfEachType(matching: filters)
    }

    /// The position of the newest message of a type that a filter selects; offset 0 if there is none. A bus may ignore
    /// the subjects of the filters.
    public func newest(matching filters: [MessageFilter]) async throws -> Position {
        let newest = try await newestOfEachType(matching: filters).values
        if let last = newest.max(by: { $0.offset < $1.offset }) { return last }
        return Position(epoch: try await end().epoch, offset: 0)
    }

    /// The number of messages after a position whose type a filter selects, and that retention has not removed. If the
    /// position belongs to another journal, all messages of this one count. A bus may ignore the subjects of the
    /// filters.
    ///
    /// Use this instead of the difference of two offsets, which is not a number of messages.
    /// - Returns: At most 10,000, which means 10,000 or more: a bus stops counting there.
    public func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        try await engine.lag(after: position, matching: filters)
    }

    /// The position that is about `distance` messages, of any type, after a position, or before it if `distance` is
    /// negative. Offset 0 if the journal has fewer messages before the position. If it has fewer messages after it, a
    /// bus may return a position beyond the end of the journal.
    ///
    /// A reader uses it to read a journal in stretches of a limited number of messages.
    public func position(_ position: Position, offsetBy distance: Int) async throws -> Position {
        try await engine.position(position, offsetBy: distance)
    }

    // MARK: Durable consumers

    /// The durable consumers whose progress the journal keeps, sorted by name.
    public func consumers() async throws -> [DurableConsumer] { try await engine.consumers() }

    /// Removes a durable consumer: its progress is lost, and retention no longer keeps messages for it. Its dead
    /// letters stay. Does nothing if there is no consumer of this name.
    /// - Throws: ``BusError``: `refused` while a process runs the consumer, or while the bus does not know if one does.
    public func forget(consumer: String) async throws { try await engine.forget(consumer: consumer) }

    // MARK: Dead letters

    /// A page of the dead letters: the messages that durable consumers gave up, oldest first. A page without letters
    /// is after the last one. A page may have fewer letters than `limit`, so that it does not get too large.
    /// - Parameters:
    ///   - consumer: The consumer whose dead letters are returned; nil for those of all consumers.
    ///   - id: Only dead letters with a higher id are returned; ids start at 1.
    ///   - limit: The maximum number of dead letters of the page.
    public func deadLetters(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        try await engine.deadLetters(of: consumer, after: id, limit: limit)
    }

    /// A page of the dead letters without the data of their messages. See ``deadLetters(of:after:limit:)``.
    public func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        try await engine.deadLetterSummaries(of: consumer, after: id, limit: limit)
    }

    /// The number of the dead letters of a consumer, or of all consumers if it is nil.
    public func deadLetterCount(of consumer: String?) async throws -> Int {
        try await engine.deadLetterCount(of: consumer)
    }

    /// All dead letters of a consumer, or of all consumers if it is nil, oldest first. They can be large together:
    /// ``deadLetters(of:after:limit:)`` returns them in pages.
    package func deadLetters(of consumer: String?) async throws -> [DeadLetter] {
        var deadLetters: [DeadLetter] = []
        try await DeadLetter.forEachPage {
            try await self.deadLetters(of: consumer, after: $0, limit: .max)
        } _: {
            deadLetters += $0
        }
        return deadLetters
    }

    /// The dead letter with an id; nil if there is none.
    public func deadLetter(_ id: DeadLetter.ID) async throws -> DeadLetter? {
        guard id > 0 else { return nil }
        return try await deadLetters(of: nil, after: id - 1, limit: 1).first { $0.id == id }
    }

    /// The dead letter with an id, without the data of its message; nil if there is none.
    public func deadLetterSummary(_ id: DeadLetter.ID) async throws -> DeadLetter.Summary? {
        guard id > 0 else { return nil }
        return try await deadLetterSummaries(of: nil, after: id - 1, limit: 1).first { $0.id == id }
    }
}
