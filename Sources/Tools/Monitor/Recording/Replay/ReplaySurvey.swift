internal import Contracts
internal import EventBus

/// What must be known of a whole recording before any of it is told again.
package struct ReplaySurvey: Sendable {
    /// How many messages there are to send.
    package private(set) var count = 0
    /// The line amid which the recording ends.
    package private(set) var cutOffLine: Int?
    /// The ids of its messages, where they are to be changed.
    private(set) var ids: Set<String> = []
    /// The commands that came too late then.
    private(set) var expired: Set<String> = []

    /// Reads the whole recording.
    /// - Throws: ``RecordingError`` when a line is no message, or it lacks a moment that the plan names.
    package init(of recording: Recording, _ plan: ReplayPlan) async throws {
        var stretch = plan.stretch
        try await recording.read { entry in
            switch entry {
            case .message(let recorded): add(recorded, stretch.place(of: recorded), plan)
            case .mistake(let mistake): throw recording.error(mistake)
            case .cutOff(let line): cutOffLine = line
            case .header, .end: break
            }
            return false
        }
        if let missing = stretch.missing { throw recording.missing(missing) }
    }

    private mutating func add(_ recorded: RecordedMessage, _ place: RecordingStretch.Place, _ plan: ReplayPlan) {
        let message = recorded.message
        if plan.identity != .same { ids.insert(message.id) }
        if message.type == DomainEvent.MessageDiscarded.type,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.reason == "expired"
        {
            expired.insert(discarded.messageID)
        }
        guard place == .inside || place == .last else { return }
        if case .send = plan.step(of: recorded, self) { count += 1 }
    }
}
