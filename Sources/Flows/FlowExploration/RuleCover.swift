internal import FlowReview
package import Navigation
internal import Support

/// Which rules and links of a flow were applied, for example by its tests.
package struct RuleCover: Sendable {
    /// The places that can be applied, in the order of the flow: rules, links, and the lists of actions of guards.
    package let places: [String]
    private var taken: Set<String> = []

    package init(of flow: Flow) {
        places =
            flow.placedRules.flatMap { $0.transition.places(at: $0.rule.keyPath) }
            + flow.links.indices.map(Flow.keyPath(ofLink:))
    }

    package mutating func add(applied places: some Sequence<String>) { taken.formUnion(places) }

    /// The places that were not applied.
    package var missing: [String] { places.filter { !taken.contains($0) } }

    /// The share of the places that were applied, in whole percent.
    package var percent: Int { places.isEmpty ? 100 : (places.count - missing.count) * 100 / places.count }
}

extension Flow.Transition {
    /// The places of the rule's own actions and of those of its guard, as machines tell them.
    func places(at rule: String) -> [String] {
        guard `guard` != nil else { return [rule] }
        let lists = answeredActions.filter { !$0.actions.isEmpty && $0.keyPath != Flow.Guard.Part.ask.rawValue }
        return lists.isEmpty
            ? ["\(rule).\(Flow.Guard.Part.ask.rawValue)"]
            : lists.map { $0.keyPath == "do" ? rule : "\(rule).\($0.keyPath)" }
    }
}

extension FlowExplorer {
    /// Scenarios that together take every rule and link of a flow that messages can lead to, each with the changes that
    /// are expected: of the shortest scenarios for each of them, as few as possible.
    /// - Returns: The scenarios, and false if they might be fewer.
    package func scenarios(in flow: Int) -> (stories: [Story], areFewest: Bool) {
        let coverage = exploration.coverages[flow]
        let stories = RuleCover(of: coverage.flow).places.compactMap { coverage.uses[$0]?.first }
            .map { story(of: $0, in: flow) }.filter(\.isExact).sorted { $0.steps.count < $1.steps.count }
        let cover = SmallestCover(of: stories.map(\.places))
        return (cover.indices.map { stories[$0] }, cover.isProved)
    }
}
