extension FlowReviewer {
    /// Looks at where screens can stand, and what leads to them.
    mutating func reviewGraph() {
        let reach = FlowReach(of: flow, along: graph.edges)
        reviewReach(reach)
        reviewPlaces()
        reviewTraps()
    }

    private mutating func reviewReach(_ reach: FlowReach) {
        let idle = Set(flow.flows.keys).subtracting(reach.flows)
        for name in idle.sorted() {
            warn("nothing begins flow '\(name)'; push or present it, or remove it", at: "flows.\(name)")
        }
        for node in graph.nodes where !node.isReached {
            let ways = graph.edges.filter { $0.to == node.screen }
            // That the child flow never runs has been said.
            let isIdle = ways.allSatisfy { edge in [edge.rule.flow, edge.begins].contains { idle.contains($0 ?? "") } }
            let isOfIdle = !ways.isEmpty || idle.contains { flow.flows[$0]?.start == node.screen }
            if isIdle, isOfIdle { continue }
            warn(
                "nothing leads to '\(node.screen)'; show it in a rule that can apply, or remove it",
                at: "screens.\(node.screen)")
        }
    }

    private mutating func reviewPlaces() {
        let roots = Set(graph.nodes.filter { stands($0, in: .root) }.map(\.screen))
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            for (key, conditions) in [("when", transition.when), ("unless", transition.unless)] {
                for condition in conditions { review(condition, at: "\(rule.place).\(key)") }
            }
            let excluded = transition.unless.filter { $0.place == .root }.flatMap(\.plainScreens)
            if roots.isSubset(of: excluded) {
                warn("the root is always one of these, so the rule never applies", at: "\(rule.place).unless.root")
            }
        }
    }

    private mutating func review(_ condition: Flow.Condition, at place: String) {
        for (index, screen) in condition.screens.enumerated() {
            guard let node = graph.nodes.first(where: { $0.screen == screen.screen }), node.isReached,
                !stands(node, in: condition.place)
            else { continue }
            let never =
                switch condition.place {
                case .root: "is never the root"
                case .path: "is never pushed"
                case .presented: "is never presented"
                case .top: "is never in front, only in a column"
                case .shown, .tab: "is never shown"
                }
            warn(
                "'\(screen.screen)' \(never); name another screen or place",
                at: "\(place).\(condition.place.rawValue)[\(index)]")
        }
    }

    /// Whether a screen can stand where a condition looks, as far as rules and requests tell.
    private func stands(_ node: FlowGraph.Node, in place: Flow.Condition.Place) -> Bool {
        switch place {
        case .root: flow.requests.contains(.setRoot) || node.places.contains(.root)
        case .path: !flow.requests(anyOf: [.push, .replacePath]).isEmpty || node.places.contains(.path)
        case .presented: flow.requests.contains(.present) || node.places.contains(where: \.isPresented)
        case .top:
            !flow.requests(anyOf: [.setRoot, .push, .replacePath, .present]).isEmpty
                || node.places.contains { !$0.isColumn }
        case .shown, .tab: true
        }
    }
}

extension Flow {
    /// Those of the actions that views may ask for.
    func requests(anyOf names: [ActionName]) -> [ActionName] { requests.filter(names.contains) }
}

extension FlowGraph.Place {
    var isPresented: Bool { if case .presented = self { true } else { false } }

    var isColumn: Bool { if case .column = self { true } else { false } }
}
