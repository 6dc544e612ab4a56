internal import Navigation

/// What a coordinator reports after a while, should the state still wait for it then.
struct Expectation: Hashable, Sendable {
    enum Object: Hashable, Sendable {
        /// A screen that is dismissed, but that a view may still show.
        case screen(instance: String)
        /// A rule that waits for the answer to its guard, and the story that it belongs to.
        case attempt(id: String, correlationID: String)
    }

    let session: String
    let object: Object
    let delay: Duration

    func isOpen(in state: NavigationState) -> Bool {
        switch object {
        case .screen(let instance): state.leaving.contains { $0.id == instance }
        case .attempt(let id, _): state.attempt?.id == id
        }
    }
}
