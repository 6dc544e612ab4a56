package import Navigation

/// The app as a tree of states, in which the state of each screen is an optional property of its parent's state.
///
/// The tree is derived from the navigation state. A screen is in the tree while it is open. A screen that the program
/// dismisses stays in the tree until the navigation state no longer lists it as leaving, or until another screen takes
/// its place. A screen that the user has swiped away is removed immediately.
package struct ThreeScreens: Hashable, Sendable {
    /// The first screens, by their tabs.
    package private(set) var tabs: [String: FirstState] = [:]
    /// The first screens that were dismissed with their root, while they are still visible.
    package private(set) var leaving: [FirstState] = []

    package init() {}

    /// Updates the tree for the next navigation state. Before the first call the tree is empty.
    package mutating func follow(_ state: NavigationState) {
        let isLeaving = Set(state.leaving.map(\.id)).contains
        let former = self
        tabs = [:]
        if case .tabs(let open, _) = state.root.container {
            for tab in open {
                tabs[tab.name] = FirstState(tab.stack, after: former.first(tab.stack.instance.id), isLeaving)
            }
        }
        let gone = former.tabs.sorted { $0.key < $1.key }.map(\.value) + former.leaving
        leaving = gone.filter { isLeaving($0.instance) }.map { $0.kept(isLeaving) }
    }

    /// Sets the ticks of a second screen's timer, if the screen is in a tab of the tree.
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
    /// - Parameter former: The previous state of the screen. Nil for a new screen.
    fileprivate init(_ stack: ScreenStack, after former: FirstState?, _ isLeaving: (String) -> Bool) {
        instance = stack.instance.id
        second = former?.second.flatMap { isLeaving($0.instance) ? $0.kept(isLeaving) : nil }
        guard let screen = stack.path.first else { return }
        let same = former?.second.flatMap { $0.instance == screen.id ? $0 : nil }
        second = SecondState(instance: screen.id, ticks: same?.ticks)
        second?.third = same?.third.flatMap { isLeaving($0.instance) ? $0 : nil }
        if let third = stack.path.dropFirst().first { second?.third = ThirdState(instance: third.id) }
    }

    /// The part of the state that is still visible while the screen leaves.
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

/// The state of the first screen.
package struct FirstState: Hashable, Sendable {
    package let instance: String
    /// The second screen, on top of this one. Nil if it is neither open nor leaving.
    package var second: SecondState?
}

/// The state of the second screen.
package struct SecondState: Hashable, Sendable {
    package let instance: String
    /// The ticks of the screen's timer. Nil if no ticks have been received.
    package var ticks: Int?
    /// The third screen, on top of this one. Nil if it is neither open nor leaving.
    package var third: ThirdState?
}

/// The state of the third screen.
package struct ThirdState: Hashable, Sendable {
    package let instance: String
}
