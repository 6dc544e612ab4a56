extension Flow {
    /// A condition on the state: one of these screens stands in that place.
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
        }

        /// Where to look.
        public let place: Place
        /// What to look for: any of these; none of them means that the place is empty (`path` and `presented` only).
        public let screens: [String]

        /// Looks for `screens` in `place`.
        public init(_ place: Place, _ screens: [String]) {
            self.place = place
            self.screens = screens
        }

        /// The root is one of these screens.
        public static func root(_ screens: String...) -> Condition { Condition(.root, screens) }

        /// The screen in front is one of these.
        public static func top(_ screens: String...) -> Condition { Condition(.top, screens) }

        /// One of these screens is on the root's path or the selected tab's; with none named, the path is empty.
        public static func path(_ screens: String...) -> Condition { Condition(.path, screens) }

        /// One of these screens is presented; with none named, nothing is.
        public static func presented(_ screens: String...) -> Condition { Condition(.presented, screens) }

        /// One of these screens is in front on its layer or in a column.
        public static func shown(_ screens: String...) -> Condition { Condition(.shown, screens) }

        func holds(in state: NavigationState) -> Bool {
            let standing =
                switch place {
                case .root: [state.root.instance]
                case .top: [state.top]
                case .path: state[state.bottomPlace]
                case .presented: state.presentations.map(\.instance)
                case .shown: state.shown
                }
            return screens.isEmpty ? standing.isEmpty : standing.contains { screens.contains($0.screen) }
        }
    }
}
