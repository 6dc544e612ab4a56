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

    /// What a machine has done with a message.
    struct Outcome {
        /// The places of the rules, of the parts of guards, and of the links that it has applied.
        var places: [String] = []
        /// Those that could not be applied.
        var failures: [(place: String, error: NavigationFailure)] = []
        /// True if the state has changed, or if the host has something to do.
        var hasEffect = false
    }

    /// What happened to a rule, a part of a guard, or a link.
    package struct Use {
        /// The number of messages because of which it was applied.
        package fileprivate(set) var count = 0
        /// The number of messages because of which it could not be applied.
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

    package internal(set) var stateCount = 0
    /// The number of messages that were tried in all states.
    package internal(set) var messageCount = 0
    /// The number of those that have led to another state.
    package internal(set) var transitionCount = 0
    /// One for each flow.
    package private(set) var coverages: [Coverage]
    /// What was not explored.
    package private(set) var limits: Set<ExplorationLimit> = []

    init(of flows: [Flow]) {
        coverages = flows.map(Coverage.init)
    }

    /// True if everything was explored, so that what was not found does not exist.
    package var isWhole: Bool { limits.isEmpty }

    mutating func meet(_ limit: ExplorationLimit) { limits.insert(limit) }

    mutating func reach(_ screen: String, of flow: Int) { coverages[flow].screens.insert(screen) }

    mutating func record(_ answer: Answer, isOver: Bool, of flow: Int, _ origin: Origin) {
        if isOver {
            coverages[flow].answers[answer] = .some(nil)
        } else if coverages[flow].answers[answer] == nil {
            coverages[flow].answers[answer] = origin
        }
    }

    mutating func record(_ outcome: Outcome, of flow: Int, _ origin: Origin) {
        for place in outcome.places {
            coverages[flow].uses[place, default: Use()].count += 1
            if outcome.hasEffect { coverages[flow].uses[place]?.hasEffect = true }
            if coverages[flow].uses[place]?.first == nil { coverages[flow].uses[place]?.first = origin }
        }
        for (place, error) in outcome.failures {
            coverages[flow].uses[place, default: Use()].failureCount += 1
            if coverages[flow].uses[place]?.failure == nil {
                coverages[flow].uses[place]?.failure = (error, origin)
            }
        }
    }
}

// What was reached of each flow.
extension Exploration {
    package struct Coverage {
        package let flow: Flow
        fileprivate var screens: Set<String> = []
        /// By the place in the flow: of a rule, of a part of its guard, or of a link.
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

        /// The places of the rules and links that nothing leads to, in the order of the flow; and of the actions of a
        /// guard that are never taken, although the guard waits.
        package var unusedPlaces: [String] {
            flow.placedRules.flatMap { unusedPlaces(of: $0.rule.keyPath, $0.transition) }
                + flow.links.indices.map(Flow.keyPath(ofLink:)).filter { uses[$0] == nil }
        }

        private func unusedPlaces(of rule: String, _ transition: Flow.Transition) -> [String] {
            let parts = Flow.Guard.Part.allCases.map { "\(rule).\($0.rawValue)" }
            guard transition.guard != nil, parts.contains(where: { uses[$0] != nil }) || uses[rule] != nil else {
                return uses[rule] == nil ? [rule] : []
            }
            return transition.places(at: rule).filter { uses[$0] == nil }.map { $0 == rule ? "\(rule).do" : $0 }
        }

        /// The places of the rules that could never be applied, sorted.
        package var failingPlaces: [String] {
            uses.filter { $1.count == $1.failureCount }.keys.sorted()
        }

        /// The places of the rules that never had an effect, sorted. A redirect has no effect of its own.
        var idlePlaces: [String] {
            let redirects = Set(flow.links.indices.filter { flow.links[$0].redirect != nil }.map(Flow.keyPath(ofLink:)))
            // With `ifPossible`, a rule can keep others from applying.
            let optional = Set(
                flow.placedRules.filter { $0.transition.actions.allSatisfy(\.isOptional) }.map(\.rule.keyPath))
            return uses.filter { !$1.hasEffect && $1.failureCount < $1.count }.keys
                .filter { !redirects.contains($0) && !optional.contains($0) }.sorted()
        }
    }
}

/// Something that an exploration leaves out. What it has not found may exist there.
package enum ExplorationLimit: Hashable, Comparable {
    /// There are more states than the maximum.
    case states
    /// A path can have any number of instances of a screen.
    case repetition(screen: String)
    /// A guard can hold back any number of messages.
    case queue
    /// The messages of a type have too many combinations of values.
    case values(type: String)
    /// Commands that flows send lead to more of them, without end.
    case sends
    /// A screen may send any command.
    case openScreen(String)
    /// Views may request actions.
    case requests
    /// The arguments of a screen can become longer and longer.
    case arguments(screen: String)
    /// A pattern that matches URLs of which no example can be written.
    case link(pattern: String)
}

extension ExplorationLimit {
    /// True if there are messages of which nothing is known.
    var hidesEverything: Bool {
        switch self {
        case .openScreen, .requests: true
        default: false
        }
    }
}

extension ExplorationLimit: CustomStringConvertible {
    package var description: String {
        switch self {
        case .states: "there are more states; use a greater --states"
        case .repetition(let screen):
            "a path can have any number of '\(screen)'; at most \(FlowExplorer.repetitionLimit) were explored"
        case .queue:
            "guards hold back any number of messages; at most \(FlowExplorer.queueLimit) were explored"
        case .values(let type): "too many combinations of the fields of '\(type)'"
        case .sends: "commands lead to further commands; at most \(FlowExplorer.sendLimit) in turn were explored"
        case .openScreen(let screen): "screen '\(screen)' of a step may send any command; write its 'sends'"
        case .requests: "actions that views request were not explored"
        case .arguments(let screen):
            "the arguments of '\(screen)' can become longer than \(FlowExplorer.argumentLimit) bytes"
        case .link(let pattern): "no URL of '\(pattern)' was explored"
        }
    }
}

extension Flow.Action {
    fileprivate var isOptional: Bool { if case .ifPossible = self { true } else { false } }
}
