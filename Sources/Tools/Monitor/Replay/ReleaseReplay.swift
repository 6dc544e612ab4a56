internal import Contracts
package import EventBus
package import FlowExploration
package import Navigation

/// Replays the recorded messages of a bus to the next version of a platform's flow.
package actor ReleaseReplay {
    private var release: FlowRelease
    private let platform: String
    private let consumer: String
    /// The last state of each open session.
    private var states: [String: Envelope] = [:]

    package init(from old: Flow, to new: Flow) {
        release = FlowRelease(from: old, to: new)
        platform = old.platform
        consumer = old.consumer
    }

    /// Adds the next messages, in the order of the bus.
    package func add(_ messages: [Envelope]) {
        for message in messages {
            switch message.type {
            case Document.NavigationState.type: if message.attributes.key == platform { add(state: message) }
            case DomainEvent.SessionEnded.type: end(message.subject)
            default:
                guard release.handles(message.type.description), message.concerns(consumer),
                    let input = Machine.Input(message)
                else { continue }
                release.add(input)
            }
        }
    }

    private func add(state: Envelope) {
        if state.isTombstone { return end(state.subject) }
        states[state.subject] = state
        if !release.knows(state.subject), let snapshot = Self.snapshot(state) { release.begin(with: snapshot) }
    }

    private func end(_ session: String) {
        states[session] = nil
        release.end(session)
    }

    /// Ends all sessions, and restores those that are open with the next version.
    package func end() -> ReleaseReport {
        release.endAll()
        for state in states.values { if let snapshot = Self.snapshot(state) { release.restore(snapshot) } }
        return release.report
    }

    /// Nil if the data is no snapshot: a coordinator cannot restore the session either.
    private static func snapshot(_ state: Envelope) -> NavigationSnapshot? {
        try? state.decode(Document.NavigationState.self).snapshot
    }
}
