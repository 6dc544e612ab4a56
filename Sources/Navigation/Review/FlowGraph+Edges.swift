extension FlowGraph {
    init(of flow: Flow) {
        let senders = flow.senders
        let edges = (flow.placedRules + flow.placedLinks).flatMap { rule, transition in
            Self.edges(of: transition, rule, from: flow.origins(of: transition, senders: senders), in: flow)
        }
        let reach = FlowReach(of: flow, along: edges)
        let shown = Dictionary(grouping: edges.filter { $0.place != .before }) { $0.to }
        self.edges = edges
        nodes = flow.screens.values.sorted { $0.name < $1.name }.map { screen in
            Node(
                screen: screen.name,
                title: screen.title,
                isStart: screen.name == flow.start,
                isReached: reach.screens.contains(screen.name),
                places: Set((shown[screen.name] ?? []).map(\.place) + (screen.name == flow.start ? [.root] : []))
            )
        }
    }

    private static func edges(
        of transition: Flow.Transition, _ rule: Rule, from origins: [String?], in flow: Flow
    ) -> [Edge] {
        let kind = MessageKind(rawValue: String(transition.on.prefix { $0 != "." })) ?? .event
        return transition.outcomes.flatMap { answer, actions in
            actions.flatMap { action in
                flow.showings(by: action).flatMap { showing in
                    origins.map { origin in
                        Edge(
                            from: origin,
                            to: showing.screen,
                            message: transition.on,
                            kind: kind,
                            place: showing.place,
                            action: action.name,
                            begins: showing.flow,
                            rule: Rule(flow: rule.flow, isLink: rule.isLink, index: rule.index, answer: answer)
                        )
                    }
                }
            }
        }
    }
}

extension Flow {
    /// All rules with where they stand: the flow's own, then those of child flows by the name of the flow.
    var placedRules: [(rule: FlowGraph.Rule, transition: Transition)] {
        let own = transitions.enumerated().map { ($0.offset, nil as String?, $0.element) }
        let others = flows.values.sorted { $0.name < $1.name }.flatMap { child in
            child.transitions.enumerated().map { ($0.offset, Optional(child.name), $0.element) }
        }
        return (own + others).map { (FlowGraph.Rule(flow: $0.1, index: $0.0, answer: nil), $0.2) }
    }

    /// All deep links with where they stand, as the rules that they amount to.
    var placedLinks: [(rule: FlowGraph.Rule, transition: Transition)] {
        links.enumerated().map { index, link in
            (FlowGraph.Rule(flow: nil, isLink: true, index: index, answer: nil), link.transition)
        }
    }

    /// What an action shows, and the child flow that it begins; no screen is whatever lies beneath.
    func showings(by action: Action) -> [(screen: String?, place: FlowGraph.Place, flow: String?)] {
        switch action {
        case .setRoot(let root, let layout):
            [(root.screen, .root, nil)] + (layout?.tabs ?? []).map { ($0.destination.screen, .tab($0.name), nil) }
        case .push(let destination, _): [(destination.screen, .path, nil)]
        case .pushFlow(let name, _, _): [(flows[name]?.start, .path, name)]
        case .replacePath(let path) where !path.isEmpty: path.map { ($0.screen, .path, nil) }
        case .present(let destination, let style, _): [(destination.screen, .presented(style), nil)]
        case .presentFlow(let name, _, let style, _): [(flows[name]?.start, .presented(style), name)]
        case .show(let destination, let column): [(destination.screen, .column(column), nil)]
        case .selectTab(let name): tabs.filter { $0.name == name }.map { ($0.destination.screen, .tab(name), nil) }
        case .pop(.to(let screen), _): [(screen, .before, nil)]
        case .replacePath, .pop, .popToRoot, .dismiss, .dismissAll, .finish, .abandon: [(nil, .before, nil)]
        case .openURL, .send: []
        }
    }

    /// The tabs that roots of the flow may have, each once.
    var tabs: [Tab] {
        let layouts = allTransitions.flatMap(\.possibleActions).compactMap { action -> Layout? in
            if case .setRoot(_, let layout) = action { layout } else { nil }
        }
        return layouts.flatMap(\.tabs).reduce(into: []) { tabs, tab in
            if !tabs.contains(tab) { tabs.append(tab) }
        }
    }
}

extension Flow.Link {
    /// The rule that it amounts to when it is followed and nothing of it is there yet.
    fileprivate var transition: Flow.Transition {
        var actions: [Flow.Action] = sends.map { .send($0.type, data: .object($0.data)) }
        if let root = to.root { actions.append(.setRoot(root.destination, container: root.container)) }
        if let tab = to.tab { actions.append(.selectTab(tab)) }
        for (name, column) in to.columns.sorted(by: { $0.key < $1.key }) {
            actions.append(.show(column.first, column: name))
            actions += column.path.map { .push($0, column: name) }
        }
        if !to.path.isEmpty { actions.append(.replacePath(to.path)) }
        if let present = to.present {
            actions.append(.present(present.destination, as: present.style, options: present.options))
        }
        return Flow.Transition(on: Machine.deepLinkReceived, when: when, unless: unless, do: actions)
    }
}

extension Flow.Layout {
    /// The tabs; of columns none.
    var tabs: [Flow.Tab] {
        if case .tabs(let tabs) = self { tabs } else { [] }
    }
}

extension Flow.Transition {
    /// What the rule does, by what its guard is answered.
    var outcomes: [(answer: FlowGraph.Answer?, actions: [Flow.Action])] {
        guard let condition = `guard` else { return [(nil, actions)] }
        return [(.accepted, actions), (.rejected, condition.rejected), (.expired, condition.expired)]
    }
}
