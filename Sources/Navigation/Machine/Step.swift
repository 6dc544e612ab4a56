/// A change in the making: it works on a copy, so that of several actions either all or none take effect.
struct Step {
    let flow: Flow
    /// The message, or what it has led a child flow to say.
    var input: Machine.Input
    /// The state that the message met. Templates refer to it, whatever the actions before them have done.
    var before: NavigationState
    /// The attempt that waited when the message came, until its end is settled.
    var waiting: Attempt?
    /// The message that the rule matched, when ``input`` answers its guard.
    var asked: Machine.Input?
    var state: NavigationState
    var memory: NavigationMemory
    var effects: [Machine.Effect] = []
    /// Whether strings are taken as they are, instead of as templates.
    var isLiteral = false
    /// The run of the child flow whose rule is applied: what it opens belongs to it.
    var scope: String?
    /// The runs that have ended, of which nobody has been told yet.
    var endings: [RunEnding] = []

    init(flow: Flow, input: Machine.Input, before: NavigationState, memory: NavigationMemory) {
        self.flow = flow
        self.input = input
        self.before = before
        self.memory = memory
        state = before
        waiting = before.attempt
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
    /// is gone, and the view still shows it: the program dismisses it. Nothing is presented over a tab that the user has
    /// left during the swipe.
    ///
    /// - Returns: Whether the instance is on a path.
    mutating func takeBack(to instance: String) -> Bool {
        for place in state.paths {
            guard let index = state[place].firstIndex(where: { $0.id == instance }) else { continue }
            dismissPresentations(over: place)
            let gone = Array(state[place][index...])
            state[place].removeSubrange(index...)
            takeAway(gone)
            return true
        }
        return false
    }

    /// Dismisses what is presented over a path; over a tab that is not selected there is nothing.
    mutating func dismissPresentations(over place: NavigationState.PathPlace) {
        switch place {
        case .presentation(let layer): dismissPresentations(from: layer + 1)
        case .tab where place != state.bottomPlace: break
        case .root, .column, .tab: dismissPresentations(from: 0)
        }
    }

    /// Checks that the state, if it has grown, does not hold too much to be published.
    func checkSize(from former: NavigationState) throws(NavigationFailure) {
        guard state.isTooLarge(from: former) else { return }
        throw .stateTooLarge
    }

    /// Notes that the view has animated a dismissed instance out.
    mutating func forget(_ instance: String) {
        state.leaving.removeAll { $0.id == instance }
        memory.note(input.departure(of: instance))
    }
}
