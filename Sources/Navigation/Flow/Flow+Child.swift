extension Flow {
    /// A flow within a flow, such as a log-in: it has rules of its own, and whoever begins it learns how it ended.
    public struct Child: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// The screen that each run begins with.
        public let start: String
        /// The rules, which are tried before those of whoever began the run.
        public let transitions: [Transition]

        /// Declares a child flow.
        public init(_ name: String, start: String, transitions: [Transition]) {
            self.name = name
            self.start = start
            self.transitions = transitions
        }
    }

    /// How a run of a child flow ended. Those who began it hear of it as of any message, and it never leaves the machine.
    enum Ending: String, CaseIterable {
        /// It finished; `data` holds `flow`, `run` and `result`.
        case finished = "flow.finished"
        /// Its first screen is gone, whoever took it away; `data` holds `flow` and `run`.
        case abandoned = "flow.abandoned"
    }

    /// All rules, those of child flows too.
    public var allTransitions: [Transition] {
        transitions + flows.values.sorted { $0.name < $1.name }.flatMap(\.transitions)
    }
}
