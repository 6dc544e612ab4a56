/// A change in the making: it works on a copy, so that of several actions either all or none take effect.
struct Step {
    let input: Machine.Input
    /// The state that the message met. Templates refer to it, whatever the actions before them have done.
    let before: NavigationState
    /// The message that the rule matched, when ``input`` answers its guard.
    var asked: Machine.Input?
    var state: NavigationState
    var memory: NavigationMemory
    var effects: [Machine.Effect] = []

    init(input: Machine.Input, before: NavigationState, memory: NavigationMemory) {
        self.input = input
        self.before = before
        self.memory = memory
        state = before
    }

    /// Notes that the program has dismissed these instances, given from the bottom up: the view animates them out.
    mutating func dismiss(_ instances: [ScreenInstance]) {
        for instance in instances.reversed() {
            state.leaving.append(instance)
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
            effects.append(.expectScreenGone(instance: instance.id))
        }
    }

    mutating func dismissPresentations(from index: Int) {
        let dismissed = state.presentations[index...].flatMap(\.instances)
        state.presentations.removeSubrange(index...)
        dismiss(dismissed)
    }

    /// Notes that the user has dismissed these instances, given from the bottom up: the view has animated them out.
    private mutating func takeAway(_ instances: [ScreenInstance]) {
        for instance in instances.reversed() {
            memory.note(input.departure(of: instance.id))
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
        }
    }

    mutating func takeAwayPresentations(from index: Int) {
        let gone = state.presentations[index...].flatMap(\.instances)
        state.presentations.removeSubrange(index...)
        takeAway(gone)
    }

    /// Takes the instance off the path that it is on, with all above it.
    ///
    /// What is presented over that path was presented while the user was already swiping. It belongs to a screen that
    /// is gone, and the view still shows it: the program dismisses it.
    ///
    /// - Returns: Whether the instance is on a path.
    mutating func takeBack(to instance: String) -> Bool {
        if let index = state.path.firstIndex(where: { $0.id == instance }) {
            dismissPresentations(from: 0)
            let gone = Array(state.path[index...])
            state.path.removeSubrange(index...)
            takeAway(gone)
            return true
        }
        for layer in state.presentations.indices {
            guard let index = state.presentations[layer].path.firstIndex(where: { $0.id == instance }) else { continue }
            dismissPresentations(from: layer + 1)
            let gone = Array(state.presentations[layer].path[index...])
            state.presentations[layer].path.removeSubrange(index...)
            takeAway(gone)
            return true
        }
        return false
    }

    /// Notes that the view has animated a dismissed instance out.
    mutating func forget(_ instance: String) {
        state.leaving.removeAll { $0.id == instance }
        memory.note(input.departure(of: instance))
    }
}
