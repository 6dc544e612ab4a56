internal import Contracts
internal import EventBus
package import FlowReview
package import Navigation

/// A recorded session told to a flow, without a bus.
///
/// It is what a coordinator does with the same messages, and its states are compared with those that were recorded.
package struct RecordedSession: Sendable {
    private let recording: Recording
    private let states: RecordedStates
    private let flow: Flow
    private let session: String

    /// Reads the recording's states.
    /// - Throws: ``RecordingError``, also when there is no message of the session.
    package init(_ recording: Recording, flow: Flow, session: String) async throws {
        var states = RecordedStates(of: flow.platform, session: session)
        try await recording.read { entry in
            states.add(entry)
            return false
        }
        guard states.sessions.contains(session) else {
            let sessions = states.sessions.sorted().joined(separator: ", ")
            throw RecordingError(
                "recording.session", "\(recording.name) has no message of the session '\(session)'",
                recovery: sessions.isEmpty ? "it has none at all" : "there are \(sessions)")
        }
        (self.recording, self.states, self.flow, self.session) = (recording, states, flow, session)
    }

    /// Whether it tells of the platform's states, so that there is something to compare with.
    package var hasStates: Bool { !states.isEmpty }

    /// Plays what a coordinator of the flow hears.
    /// - Parameters:
    ///   - end: the last message; nil for all.
    ///   - show: gets what came of each, and returns whether to go on.
    /// - Returns: the machine as it is then.
    /// - Throws: ``RecordingError``, what `show` throws, and ``BusError`` for a recorded state that cannot be read.
    package func play(
        until end: RecordingMoment? = nil, _ show: (Scenario.Outcome) async throws -> Bool
    ) async throws -> Machine {
        var (machine, behind) = try states.beginning(of: flow)
        var stretch = RecordingStretch(until: end)
        let types = flow.messageTypes
        try await recording.readMessages { recorded in
            let place = stretch.place(of: recorded)
            if place == .behind { return true }
            if recorded.number > behind, recorded.message.subject == session, isHeard(recorded.message, types),
                let step = try step(recorded)
            {
                guard try await show(machine.take(step)) else { return true }
            }
            return place == .last
        }
        if let missing = stretch.missing { throw recording.missing(missing) }
        return machine
    }

    private func isHeard(_ message: Envelope, _ types: Set<String>) -> Bool {
        types.contains(message.type.description) && message.concerns(flow.consumer)
    }

    /// - Returns: nil for data that is not JSON, which no coordinator takes.
    private func step(_ recorded: RecordedMessage) throws -> RecordedStep? {
        guard let input = Machine.Input(recorded.message) else { return nil }
        return RecordedStep(
            number: recorded.number, line: recorded.line, input, isExpired: states.hasExpired(recorded.message),
            try states.state(after: recorded))
    }
}

/// The states of one session on one platform, as a recording has them.
struct RecordedStates: Sendable {
    private let platform: String
    private let session: String
    /// The last by the message that led to them, as it was published: most are never looked at.
    private var documents: [String: Envelope] = [:]
    /// The commands that came too late.
    private var expired: Set<String> = []
    /// The state that the first message led to that led to any, and where it stands.
    private var first: (document: Envelope, number: Int)?
    /// Where the last message stands of which a state is recorded: behind it nobody can tell whether there was one more.
    private var lastAnswered = 0
    private var numbers: [String: Int] = [:]
    private var beginsWithRetained = false
    /// The sessions that there are messages of.
    private(set) var sessions: Set<String> = []

    init(of platform: String, session: String) {
        self.platform = platform
        self.session = session
    }

    mutating func add(_ entry: RecordingEntry) {
        switch entry {
        case .header(let header): beginsWithRetained = header.beginsWithRetained
        case .message(let recorded):
            sessions.insert(recorded.message.subject)
            if recorded.message.subject == session { add(recorded) }
        case .end, .mistake, .cutOff: break
        }
    }

    private mutating func add(_ recorded: RecordedMessage) {
        let message = recorded.message
        numbers[message.id] = recorded.number
        if message.type == Document.NavigationState.type, message.attributes.key == platform {
            let cause = message.attributes.causationID
            // An answer that releases a queue leads to several states, and a machine takes it whole.
            if first == nil || cause != nil && first?.document.attributes.causationID == cause {
                first = (message, recorded.number)
            }
            guard let cause else { return }
            documents[cause] = message
            lastAnswered = max(lastAnswered, numbers[cause] ?? 0)
        } else if message.type == DomainEvent.MessageDiscarded.type, message.attributes.platform == platform,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.reason == "expired"
        {
            expired.insert(discarded.messageID)
        }
    }

    var isEmpty: Bool { first == nil }

    func hasExpired(_ message: Envelope) -> Bool { expired.contains(message.id) }

    /// What the recording says that a message has led to.
    func state(after recorded: RecordedMessage) throws -> RecordedStep.State {
        guard let document = documents[recorded.message.id] else {
            return recorded.number < lastAnswered ? .unchanged : .unknown
        }
        return .changed(try document.decode(Document.NavigationState.self).snapshot)
    }

    /// Where the machine begins, and behind which message: a recording may begin amid a story.
    func beginning(of flow: Flow) throws -> (machine: Machine, number: Int) {
        let start = Machine(flow: flow, session: session)
        guard let first else { return (start, 0) }
        let snapshot = try first.document.decode(Document.NavigationState.self).snapshot
        let cause = first.document.attributes.causationID.flatMap { numbers[$0] }
        if snapshot.revision == 0 || snapshot.revision == 1 && cause != nil { return (start, 0) }
        // What is retained, and older than the state, was told to the coordinator before.
        return (Restoration(snapshot, flow: flow).machine, cause ?? (beginsWithRetained ? first.number : 0))
    }
}
