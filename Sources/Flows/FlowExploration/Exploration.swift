internal import Navigation

/// What an exploration has found.
package struct Exploration {
    /// A way into a state: what happened in which state, by their numbers.
    package struct Origin: Sendable {
        let state: Int
        let occurrence: Int

        static let start = Origin(state: 0, occurrence: 0)
    }

    package internal(set) var stateCount = 0
    /// The number of messages that were tried in all states.
    package internal(set) var messageCount = 0
    /// The number of those that have led to another state.
    package internal(set) var transitionCount = 0
    /// One for each flow.
    package internal(set) var coverages: [FlowCoverage]
    /// What was not explored.
    package private(set) var limits: Set<ExplorationLimit> = []

    init(of flows: [Flow]) {
        coverages = flows.map(FlowCoverage.init)
    }

    /// True if everything was explored, so that what was not found does not exist.
    package var isWhole: Bool { limits.isEmpty }

    mutating func add(_ limit: ExplorationLimit) { limits.insert(limit) }
}
