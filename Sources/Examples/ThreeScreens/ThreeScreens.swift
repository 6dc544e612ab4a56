package import Navigation

/// The app as a tree of states, each screen's optional in its parent's, as one would write it without an engine.
///
/// It follows the navigation's state, and says nothing that this does not: what is in the tree is to be seen. A screen
/// that the program dismisses stays, with its content, until the view says that it is gone; one that the user has
/// swiped away is gone with the swipe. Either way it ends as nil in its parent, and nobody has to ask who it was.
package struct ThreeScreens: Hashable, Sendable {
    /// The first screens by their tabs.
    package private(set) var tabs: [String: FirstState] = [:]
    /// The first screens that went with their root, as long as they are to be seen.
    package private(set) var leaving: [FirstState] = []

    package init() {}

    /// Follows the navigation to its next state. A view that begins in the midst of things begins with an empty value.
    package mutating func follow(_ state: NavigationState) {
        let isLeaving = Set(state.leaving.map(\.id)).contains
        let former = self
        tabs = [:]
        if case .tabs(let standing, _) = state.root.container {
            for tab in standing {
                tabs[tab.name] = FirstState(tab.stack, after: former.first(tab.stack.instance.id), isLeaving)
            }
        }
        let gone = former.tabs.sorted { $0.key < $1.key }.map(\.value) + former.leaving
        leaving = gone.filter { isLeaving($0.instance) }.map { $0.kept(isLeaving) }
    }

    /// Takes what a timer says, if its screen is there.
    package mutating func follow(_ timer: (instance: String, ticks: Int)) {
        for tab in tabs.keys where tabs[tab]?.second?.instance == timer.instance {
            tabs[tab]?.second?.ticks = timer.ticks
        }
    }

    private func first(_ instance: String) -> FirstState? {
        tabs.values.first { $0.instance == instance }
    }
}

extension FirstState {
    /// - Parameter former: the same screen before.
    fileprivate init(_ stack: ScreenStack, after former: FirstState?, _ isLeaving: (String) -> Bool) {
        instance = stack.instance.id
        second = former?.second.flatMap { isLeaving($0.instance) ? $0.kept(isLeaving) : nil }
        guard let standing = stack.path.first else { return }
        let same = former?.second.flatMap { $0.instance == standing.id ? $0 : nil }
        second = SecondState(instance: standing.id, ticks: same?.ticks)
        second?.third = same?.third.flatMap { isLeaving($0.instance) ? $0 : nil }
        if let third = stack.path.dropFirst().first { second?.third = ThirdState(instance: third.id) }
    }

    /// What is still to be seen of it while it leaves.
    fileprivate func kept(_ isLeaving: (String) -> Bool) -> FirstState {
        FirstState(
            instance: instance, second: second.flatMap { isLeaving($0.instance) ? $0.kept(isLeaving) : nil })
    }
}

extension SecondState {
    fileprivate func kept(_ isLeaving: (String) -> Bool) -> SecondState {
        SecondState(
            instance: instance, ticks: ticks, third: third.flatMap { isLeaving($0.instance) ? $0 : nil })
    }
}

/// What the first screen shows: itself, and perhaps the second over it.
package struct FirstState: Hashable, Sendable {
    package let instance: String
    package var second: SecondState?
}

/// What the second screen shows: its timer, and perhaps the third screen over it.
package struct SecondState: Hashable, Sendable {
    package let instance: String
    /// How far its timer has come; nil if it does not run.
    package var ticks: Int?
    package var third: ThirdState?
}

/// What the third screen shows.
package struct ThirdState: Hashable, Sendable {
    package let instance: String
}
