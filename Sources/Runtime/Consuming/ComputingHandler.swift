package import EventBus

/// A handler that only computes: it answers a message from its own state.
///
/// A message is handled before the results of the message before it are recorded. If these are refused, the state is taken
/// back, and the messages after that one are handled again.
package protocol ComputingHandler: Sendable {
    /// - Throws: what makes the message a dead letter.
    mutating func handle(_ message: Envelope) throws -> Handled
    /// The results of the messages of a partition are recorded up to this offset.
    mutating func keep(_ partition: Partition, through offset: UInt64)
    /// Takes back what the messages of a partition have changed, from this offset on.
    mutating func takeBack(_ partition: Partition, from offset: UInt64)
}

/// The states of sessions, with what has to be known to take changes back.
package struct SessionStates<State: Sendable>: Sendable {
    private struct Change: Sendable {
        let offset: UInt64
        let session: String
        let before: State?
    }

    private var states: [String: State] = [:]
    private var changes: [Partition: [Change]] = [:]

    package init() {}

    package subscript(session: String) -> State? { states[session] }

    /// All sessions that have a state.
    package var sessions: some Collection<String> { states.keys }

    /// Sets a state for good.
    package mutating func restore(_ state: State, of session: String) {
        states[session] = state
    }

    /// Sets a state because of a message, until its results are kept or taken back.
    package mutating func set(_ state: State, because message: Envelope) {
        let change = Change(
            offset: message.position?.offset ?? 0, session: message.subject, before: states[message.subject])
        changes[message.partition, default: []].append(change)
        states[message.subject] = state
    }

    package mutating func keep(_ partition: Partition, through offset: UInt64) {
        changes[partition]?.removeAll { $0.offset <= offset }
        if changes[partition]?.isEmpty == true { changes[partition] = nil }
    }

    package mutating func takeBack(_ partition: Partition, from offset: UInt64) {
        for change in (changes[partition] ?? []).reversed() where change.offset >= offset {
            states[change.session] = change.before
        }
        changes[partition]?.removeAll { $0.offset >= offset }
    }
}
