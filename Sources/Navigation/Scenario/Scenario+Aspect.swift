extension Scenario {
    /// What can be told of a step.
    public enum Aspect: String, Hashable, Sendable, CaseIterable {
        /// The root.
        case root
        /// The screen in front of all others.
        case top
        /// The root's path, or the selected tab's.
        case path
        /// What is presented, from the lowest.
        case presented
        /// The stacks in the columns of a split root, by the columns' names.
        case columns
        /// The selected tab.
        case tab
        /// The stacks of the tabs, by the tabs' names.
        case tabs
        /// What is dismissed and still animated out.
        case leaving
        /// The child flows that run.
        case runs
        /// The message of the rule whose guard waits.
        case attempt
        /// The messages that are held back meanwhile.
        case queue
        /// The URL of the deep link that cannot be followed yet.
        case parked
        /// What the screens that the user can act on may send.
        case commands
        /// The commands that are sent.
        case sent
        /// The URLs that are opened.
        case opened
        /// The instances whose work ends.
        case dismissed
        /// Why messages are discarded.
        case discarded
        /// Why a rule could not be applied.
        case failed

        /// Whether it follows from the others, so that it need not be expected for itself.
        var isDerived: Bool { self == .top || self == .commands }

        /// Whether it is what the step did, rather than how it left the state.
        var isEffect: Bool { [.sent, .opened, .dismissed, .discarded, .failed].contains(self) }

        /// Whether its lists have names.
        var isNamed: Bool { self == .columns || self == .tabs }
    }
}
