internal import FlowReview
package import Navigation
internal import Support

/// What an exploration has found.
package struct Exploration {
    /// A way into a state: what happened in which state, by their numbers.
    package struct Origin: Sendable {
        let state: Int
        let occurrence: Int

        static let start = Origin(state: 0, occurrence: 0)
    }

    /// A state that neither the user nor a service nor time changes.
    package struct DeadEnd: Sendable {
        package let state: Int
        /// True if the session can begin again, or a URL leads out.
        package let canRestart: Bool
        /// The screens of each platform on which the user can act.
        package let screens: [[String]]
    }

    /// What a machine has done with a message.
    struct Outcome {
        /// The places of the rules and links that it has applied.
        var rules: [String] = []
        /// The rules that could not be applied.
        var failures: [(rule: String, error: NavigationFailure)] = []
        /// True if the state has changed, or if the host has something to do.
        var hasEffect = false
    }

    /// What happened to a rule or a link.
    package struct Use {
        /// The number of times that it was applied.
        package fileprivate(set) var count = 0
        /// The number of times that it could not be applied.
        package fileprivate(set) var failureCount = 0
        /// The first time that it was applied.
        package fileprivate(set) var first: Origin?
        /// True if it has had an effect.
        fileprivate var hasEffect = false
        /// The first failure.
        package fileprivate(set) var failure: (error: NavigationFailure, origin: Origin)?
    }

    /// An answer to the question of a rule.
    struct Answer: Hashable {
        /// The name of the rule.
        let rule: String
        let type: String
        let data: JSONValue
    }

    /// What was reached of one flow.
    package struct Coverage {
        package let flow: Flow
        fileprivate var screens: Set<String> = []
        /// By the place of the rule or link in the flow.
        package fileprivate(set) var uses: [String: Use] = [:]

        /// The answers after which a rule still waits, with their first occurrences. Nil for an answer that has ended a
        /// wait.
        fileprivate var answers: [Answer: Origin?] = [:]

        fileprivate init(flow: Flow) {
            self.flow = flow
        }

        /// The answers that end no wait, with their first occurrences.
        var openAnswers: [(answer: Answer, origin: Origin)] {
            answers.compactMap { answer, origin in origin.map { (answer, $0) } }
                .sorted {
                    ($0.0.rule, $0.0.type, $0.0.data.description) < ($1.0.rule, $1.0.type, $1.0.data.description)
                }
        }

        /// The screens that no state has, sorted.
        package var unreachedScreens: [String] { Set(flow.screens.keys).subtracting(screens).sorted() }

        /// The places of the rules and links that nothing leads to, in the order of the flow.
        package var unusedRules: [String] {
            let rules = flow.placedRules.map(\.rule.keyPath) + flow.links.indices.map(Flow.keyPath(ofLink:))
            return rules.filter { uses[$0] == nil }
        }

        /// The places of the rules that could never be applied, sorted.
        package var failingRules: [String] { uses.filter { $1.count == $1.failureCount }.keys.sorted() }

        /// The places of the rules that never had an effect, sorted.
        var idleRules: [String] { uses.filter { !$1.hasEffect && $1.failureCount < $1.count }.keys.sorted() }
    }

    package internal(set) var stateCount = 0
    /// The number of messages that were tried in all states.
    package internal(set) var messageCount = 0
    /// The number of those that have led to another state.
    package internal(set) var transitionCount = 0
    /// True if there are more states than the limit.
    package internal(set) var isCut = false
    package internal(set) var deadEnds: [DeadEnd] = []
    /// The screens that are opened on themselves, directly or with others between them, without end. Only states with at
    /// most ``FlowExplorer/repetitionLimit`` of them on one path are explored.
    package internal(set) var repeatedScreens: Set<String> = []
    /// One for each flow.
    package private(set) var coverages: [Coverage]
    /// The types of messages of which not all combinations of fields were explored, sorted.
    package let shortened: [String]

    init(of flows: [Flow], shortened: [String]) {
        coverages = flows.map(Coverage.init)
        self.shortened = shortened
    }

    /// The flows in which views may request actions, which are not explored.
    package var requesting: [Flow] { coverages.map(\.flow).filter { !$0.requests.isEmpty } }

    /// True if all states were explored.
    package var isWhole: Bool { !isCut && repeatedScreens.isEmpty && shortened.isEmpty && requesting.isEmpty }

    mutating func reach(_ screen: String, of flow: Int) { coverages[flow].screens.insert(screen) }

    mutating func record(_ answer: Answer, isOver: Bool, of flow: Int, _ origin: Origin) {
        if isOver {
            coverages[flow].answers[answer] = .some(nil)
        } else if coverages[flow].answers[answer] == nil {
            coverages[flow].answers[answer] = origin
        }
    }

    mutating func record(_ outcome: Outcome, of flow: Int, _ origin: Origin) {
        for rule in Set(outcome.rules) {
            coverages[flow].uses[rule, default: Use()].count += 1
            if outcome.hasEffect { coverages[flow].uses[rule]?.hasEffect = true }
            if coverages[flow].uses[rule]?.first == nil { coverages[flow].uses[rule]?.first = origin }
        }
        for failure in outcome.failures {
            coverages[flow].uses[failure.rule, default: Use()].failureCount += 1
            if coverages[flow].uses[failure.rule]?.failure == nil {
                coverages[flow].uses[failure.rule]?.failure = (failure.error, origin)
            }
        }
    }
}
