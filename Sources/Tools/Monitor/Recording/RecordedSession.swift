internal import Contracts
internal import EventBus
package import FlowReview
package import Navigation

/// A recorded session that is played to a flow, without a bus.
///
/// A ``Machine`` handles the messages as a coordinator does. The machine's states are compared with the recorded
/// states.
package struct RecordedSession: Sendable {
    private let recording: Recording
    private let states: RecordedStates
    private let flow: Flow
    private let session: String

    /// Reads the states of the recording.
    /// - Throws: ``RecordingError`` if the recording cannot be read, or has no message of the session.
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
                recovery: sessions.isEmpty
                    ? "the recording has no messages" : "choose one of its sessions: \(sessions)")
        }
        (self.recording, self.states, self.flow, self.session) = (recording, states, flow, session)
    }

    /// True if the recording has states of the session on the flow's platform. Without them, nothing is compared.
    package var hasStates: Bool { !states.isEmpty }

    /// Plays the messages that a coordinator of the flow handles.
    /// - Parameters:
    ///   - end: The last message to play. Nil for all.
    ///   - show: Called with the outcome of each message. Returns false to stop.
    /// - Returns: The machine after the last message.
    /// - Throws: ``RecordingError``, the errors of `show`, and ``BusError`` if a recorded state cannot be read.
    package func play(
        until end: RecordingMoment? = nil, _ show: (Scenario.Outcome) async throws -> Bool
    ) async throws -> Machine {
        var (machine, behind) = try states.beginning(of: flow)
        var stretch = RecordingStretch(until: end)
        let types = flow.playedTypes
        try await recording.readMessages { recorded in
            let place = stretch.place(of: recorded)
            if place == .behind { return true }
            if recorded.number > behind, recorded.message.subject == session, isReceived(recorded.message, types),
                let step = try step(recorded)
            {
                guard try await show(machine.replay(step)) else { return true }
            }
            return place == .last
        }
        if let missing = stretch.missing { throw recording.missing(missing) }
        return machine
    }

    private func isReceived(_ message: Envelope, _ types: Set<String>) -> Bool {
        types.contains(message.type.description) && message.concerns(flow.consumer)
    }

    /// - Returns: Nil if the data is not JSON: a coordinator does not handle such a message.
    private func step(_ recorded: RecordedMessage) throws -> RecordedStep? {
        guard let input = Machine.Input(recorded.message) else { return nil }
        return RecordedStep(
            number: recorded.number, line: recorded.line, input, isExpired: states.hasExpired(recorded.message),
            state: try states.state(after: recorded))
    }
}

extension Flow {
    /// The types of the messages that change the state of a machine. With the first message of a session, rules begin
    /// to wait (`after`), even if no rule answers the message.
    fileprivate var playedTypes: Set<String> {
        guard allTransitions.contains(where: { $0.after != nil }) else { return messageTypes }
        let first = [DomainEvent.LaunchFinished.type, DomainEvent.DeepLinkReceived.type]
        return messageTypes.union(first.map(\.description))
    }
}

/// The recorded states of one session on one platform.
struct RecordedStates: Sendable {
    private let platform: String
    private let session: String
    /// The last state that each message led to, by the message's id.
    private var documents: [String: Envelope] = [:]
    /// The ids of the commands that expired.
    private var expired: Set<String> = []
    /// The first state of the recording, and its number. If the cause of the first state led to several states, the
    /// last of them.
    private var first: (document: Envelope, number: Int)?
    /// The number of the last message that led to a recorded state; 0 if there is none. The recording does not show
    /// whether a later message led to a state.
    private var lastAnswered = 0
    /// The numbers of the session's messages, by id.
    private var numbers: [String: Int] = [:]
    private var beginsWithRetained = false
    /// All sessions that the recording has messages of.
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
            // A message can lead to several states; a machine handles it in one step.
            if first == nil || cause != nil && first?.document.attributes.causationID == cause {
                first = (message, recorded.number)
            }
            guard let cause else { return }
            documents[cause] = message
            lastAnswered = max(lastAnswered, numbers[cause] ?? 0)
        } else if message.type == DomainEvent.MessageDiscarded.type, message.attributes.platform == platform,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.hasExpired
        {
            expired.insert(discarded.messageID)
        }
    }

    var isEmpty: Bool { first == nil }

    func hasExpired(_ message: Envelope) -> Bool { expired.contains(message.id) }

    /// The state that a message led to, according to the recording.
    func state(after recorded: RecordedMessage) throws -> RecordedStep.State {
        guard let document = documents[recorded.message.id] else {
            return recorded.number < lastAnswered ? .unchanged : .unknown
        }
        return .changed(try document.decode(Document.NavigationState.self).snapshot)
    }

    /// The machine before the first message to play, and the number of the last message that it has already handled; 0
    /// if it has handled none. A recording may begin in the middle of a session.
    func beginning(of flow: Flow) throws -> (machine: Machine, number: Int) {
        let start = Machine(flow: flow, session: session)
        guard let first else { return (start, 0) }
        let snapshot = try first.document.decode(Document.NavigationState.self).snapshot
        let cause = first.document.attributes.causationID.flatMap { numbers[$0] }
        if snapshot.revision == 0 || snapshot.revision == 1 && cause != nil { return (start, 0) }
        // In a recording that begins with the retained documents, the coordinator had already handled those before its
        // state.
        return (Restoration(snapshot, flow: flow).machine, cause ?? (beginsWithRetained ? first.number : 0))
    }
}
