extension Flow {
    /// A condition on the state: one of these screens stands in that place, with at least these arguments.
    public struct Condition: Hashable, Sendable {
        /// Where to look.
        public enum Place: String, Hashable, Sendable, CaseIterable {
            /// The root.
            case root
            /// In front of all others.
            case top
            /// Anywhere on the path that presentations lie on: the root's, or the selected tab's.
            case path
            /// Anywhere among what is presented.
            case presented
            /// In front on any layer, or in a column: to be seen, or just beneath a presentation.
            case shown
            /// The selected tab of the root; what is looked for are tabs' names.
            case tab
        }

        /// Where to look.
        public let place: Place
        /// What to look for: any of these; none of them means that the place is empty (`path` and `presented` only).
        ///
        /// Of a screen's arguments those count that are named here. They may be templates; one that cannot be filled in
        /// is no argument of any screen.
        public let screens: [Destination]

        /// Looks for `screens` in `place`.
        public init(_ place: Place, _ screens: [Destination]) {
            self.place = place
            self.screens = screens
        }

        /// The root is one of these screens.
        public static func root(_ screens: Destination...) -> Condition { Condition(.root, screens) }

        /// The screen in front is one of these.
        public static func top(_ screens: Destination...) -> Condition { Condition(.top, screens) }

        /// One of these screens is on the root's path or the selected tab's; with none named, the path is empty.
        public static func path(_ screens: Destination...) -> Condition { Condition(.path, screens) }

        /// One of these screens is presented; with none named, nothing is.
        public static func presented(_ screens: Destination...) -> Condition { Condition(.presented, screens) }

        /// One of these screens is in front on its layer or in a column.
        public static func shown(_ screens: Destination...) -> Condition { Condition(.shown, screens) }

        /// One of these tabs is selected.
        public static func tab(_ names: String...) -> Condition { Condition(.tab, names.map { .screen($0) }) }

        /// - Parameter filled: Fills in the templates of an argument; nil when that cannot be done.
        func holds(in state: NavigationState, filled: (JSONValue) -> JSONValue? = { $0 }) -> Bool {
            if place == .tab {
                guard let selected = state.root.container?.selectedTab else { return false }
                return screens.contains { $0.screen == selected }
            }
            let standing = place.instances(in: state)
            guard !screens.isEmpty else { return standing.isEmpty }
            return screens.contains { wanted in
                standing.contains { instance in
                    wanted.screen == instance.screen
                        && wanted.arguments.allSatisfy { name, value in
                            instance.arguments[name].map { filled(value) == $0 } ?? false
                        }
                }
            }
        }
    }
}

extension Flow.Condition.Place {
    fileprivate func instances(in state: NavigationState) -> [ScreenInstance] {
        switch self {
        case .root: [state.root.instance]
        case .top: [state.top]
        case .path: state[state.bottomPlace]
        case .presented: state.presentations.map(\.instance)
        case .shown: state.shown
        case .tab: []
        }
    }
}
