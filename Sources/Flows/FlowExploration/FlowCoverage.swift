internal import FlowReview
package import Navigation
internal import Support

/// What an exploration has reached of one flow.
package struct FlowCoverage {
    /// What a machine has done with the messages of one occurrence.
    struct Outcome {
        /// The places of the rules, of the parts of guards, and of the links that it has applied.
        var places: [String] = []
        /// Those that could not be applied.
        var failures: [(place: String, error: NavigationFailure)] = []
        /// True if the state has changed, or if the host has something to do.
        var hasEffect = false
        /// What it has told others, in words.
        var tells: Set<String> = []
        /// The types of the commands that it has sent.
        var sent: Set<String> = []
        /// The screens that were open after one of several messages.
        var screens: Set<String> = []
    }

    /// What happened to a rule, a part of a guard, or a link.
    package struct Use {
        /// The number of messages because of which it was applied.
        package fileprivate(set) var count = 0
        /// The number of messages because of which it could not be applied.
        package fileprivate(set) var failureCount = 0
        /// The first time that it was applied and did not fail.
        package fileprivate(set) var first: Exploration.Origin?
        /// True if it has had an effect.
        fileprivate var hasEffect = false
        /// The first failure.
        package fileprivate(set) var failure: (error: NavigationFailure, origin: Exploration.Origin)?
        /// The first failure because of something that happens on the flow's own platform, or because of a service.
        fileprivate(set) var ownFailure: (error: NavigationFailure, origin: Exploration.Origin)?
    }

    /// An answer to the question of a rule.
    struct Answer: Hashable {
        /// The name of the rule.
        let rule: String
        let type: String
        let data: JSONValue
    }

    package let flow: Flow
    /// The screens that are open in some state.
    package private(set) var reachedScreens: Set<String> = []
    /// What can happen on each screen.
    package private(set) var steps: Set<FlowStep> = []
    /// By the place in the flow: of a rule, of a part of its guard, or of a link.
    package private(set) var uses: [String: Use] = [:]
    /// The answers that have had no effect, with their first occurrences. Nil for an answer that has had one.
    private var answers: [Answer: Exploration.Origin?] = [:]

    init(flow: Flow) {
        self.flow = flow
    }

    mutating func reach(_ screen: String) { reachedScreens.insert(screen) }

    mutating func record(_ step: FlowStep) { steps.insert(step) }

    mutating func record(_ answer: Answer, hasEffect: Bool, _ origin: Exploration.Origin) {
        if hasEffect {
            answers[answer] = .some(nil)
        } else if answers[answer] == nil {
            answers[answer] = origin
        }
    }

    /// - Parameter isOwn: False for a message of another platform.
    mutating func record(_ outcome: Outcome, isOwn: Bool, _ origin: Exploration.Origin) {
        reachedScreens.formUnion(outcome.screens)
        for place in outcome.places {
            uses[place, default: Use()].count += 1
            if outcome.hasEffect { uses[place]?.hasEffect = true }
            let fails = outcome.failures.contains { $0.place == place }
            if !fails, uses[place]?.first == nil { uses[place]?.first = origin }
        }
        for (place, error) in outcome.failures {
            uses[place, default: Use()].failureCount += 1
            if uses[place]?.failure == nil { uses[place]?.failure = (error, origin) }
            if isOwn, uses[place]?.ownFailure == nil { uses[place]?.ownFailure = (error, origin) }
        }
    }

    /// The answers that end no wait, with their first occurrences.
    var openAnswers: [(answer: Answer, origin: Exploration.Origin)] {
        answers.compactMap { answer, origin in origin.map { (answer, $0) } }
            .sorted {
                ($0.0.rule, $0.0.type, $0.0.data.description) < ($1.0.rule, $1.0.type, $1.0.data.description)
            }
    }

    /// The screens that no state has, sorted.
    package var unreachedScreens: [String] { Set(flow.screens.keys).subtracting(reachedScreens).sorted() }

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

    /// The places of the rules that could not be applied in some states, sorted.
    var sometimesFailingPlaces: [String] {
        uses.filter { $1.failureCount < $1.count && $1.ownFailure != nil }.keys.sorted()
    }

    /// The places of the rules that never had an effect, sorted. A redirect has no effect of its own.
    var idlePlaces: [String] {
        let redirects = Set(flow.links.indices.filter { flow.links[$0].redirect != nil }.map(Flow.keyPath(ofLink:)))
        let shadowing = Set(flow.shadowingRules)
        return uses.filter { !$1.hasEffect && $1.failureCount < $1.count }.keys
            .filter { !redirects.contains($0) && !shadowing.contains($0) }.sorted()
    }
}

extension Flow {
    /// The places of the rules that keep a later rule of the same list from applying to a message.
    fileprivate var shadowingRules: [String] {
        let lists = Dictionary(grouping: placedRules) { $0.rule.keyPath.cut(at: "[").map { String($0.before) } }
        return lists.values.flatMap { rules in
            rules.enumerated().filter { index, rule in
                rules[(index + 1)...].contains { !Set($0.transition.on).isDisjoint(with: rule.transition.on) }
            }.map(\.element.rule.keyPath)
        }
    }
}
