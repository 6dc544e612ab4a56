package import EventBus

/// The states of all sessions, with the earlier states that are needed to undo changes.
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

    /// The sessions that have a state.
    package var sessions: some Collection<String> { states.keys }

    /// Sets a state that ``takeBack(_:from:)`` does not undo.
    package mutating func restore(_ state: State, of session: String) {
        states[session] = state
    }

    /// Sets a state because of a message. The change can be undone until ``keep(_:through:)`` makes it permanent.
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
