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
