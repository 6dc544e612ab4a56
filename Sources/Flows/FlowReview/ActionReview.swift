internal import Navigation

extension FlowReviewer {
    /// Follows the actions of each rule from the states in which the rule can apply. Reports rules for which there is
    /// no such state, and actions that can be taken in none of these states.
    mutating func reviewActions(_ sentElsewhere: Set<String>) {
        // Flows with requests or with windows are not reviewed.
        guard flow.requests.isEmpty, !graph.nodes.contains(where: { $0.placements.contains(.presented(.window)) })
        else {
            return
        }
        let senders = screenSenders(sentElsewhere)
        let situations = Situations(
            of: flow, nodes, graph, soleSenders: soleSenders(among: senders), rootSenders: rootSenders(among: senders))
        for (rule, transition) in flow.placedRules {
            let start: Situation
            do {
                start = try situations.start(of: transition, in: rule.flow)
            } catch {
                warn(.neverApplies, error.message, at: "\(rule.keyPath).when")
                continue
            }
            follow(transition.actions, from: start, at: "\(rule.keyPath).do")
            // `rejected` and `expired` are taken without another check of the conditions.
            guard let condition = transition.guard else { continue }
            follow(condition.rejected, from: situations.unknown, at: "\(rule.keyPath).guard.rejected")
            follow(condition.expired, from: situations.unknown, at: "\(rule.keyPath).guard.expired")
        }
    }

    private mutating func follow(_ actions: [Flow.Action], from start: Situation, at keyPath: String) {
        var situation = start
        for (index, action) in actions.enumerated() {
            do {
                try checkDismissal(action)
                try situation.apply(action, in: flow)
            } catch {
                return warn(.impossibleAction, error.message, at: "\(keyPath)[\(index)]")
            }
        }
    }

    /// - Throws: ``Impossibility`` if the action dismisses a screen that no rule and no link presents, or pops one that
    ///   none pushes.
    private func checkDismissal(_ action: Flow.Action) throws(Impossibility) {
        switch action {
        case .dismiss(.screen(let screen)):
            guard let node = nodes[screen], !canBe(node, in: .presented) else { return }
            throw Impossibility(message: "'\(screen)' is never presented, so it cannot be dismissed; use 'pop'")
        case .pop(.from(let screen), column: _):
            guard let node = nodes[screen], !canBe(node, in: .path) else { return }
            throw Impossibility(
                message: "'\(screen)' is never pushed, so it cannot be popped; use 'popTo' to pop all above it")
        default: return
        }
    }

    /// For each command that only screens send, the names of these screens and of those that may send any command.
    private func screenSenders(_ sentElsewhere: Set<String>) -> [String: Set<String>] {
        var screens: [String: Set<String>] = [:]
        for screen in flow.screens.values {
            for type in screen.sends { screens[type, default: []].insert(screen.name) }
        }
        // Rules, links and buttons send commands while any screen is in front.
        let actions = flow.allTransitions.flatMap(\.possibleActions).compactMap(\.command)
        let others = sentElsewhere.union(actions).union(flow.links.flatMap(\.sends).map(\.type))
        return screens.filter { type, screens in !others.contains(type) && senders[type] == screens }
            .mapValues { $0.union(openScreens) }
    }

    /// The commands that are sent only by screens that are always the root, with these screens.
    private func rootSenders(among senders: [String: Set<String>]) -> [String: Set<String>] {
        senders.filter { $0.value.allSatisfy { nodes[$0]?.placements == [.root] } }
    }

    /// The commands that screens send only while they are in front, with these screens.
    private func soleSenders(among senders: [String: Set<String>]) -> [String: Set<String>] {
        // A screen in a column, and a root around its tabs or columns, can send while another screen is in front.
        guard !graph.nodes.contains(where: { $0.placements.contains { $0.isColumn } }) else { return [:] }
        let containers = flow.layouts.filter { $0.value.contains { $0 != nil } }.keys
        return senders.filter { !containers.contains(where: $0.value.contains) }
    }
}

/// The states in which the rules of a flow can apply.
private struct Situations {
    private let flow: Flow
    private let nodes: [String: FlowGraph.Node]
    private let soleSenders: [String: Set<String>]
    private let rootSenders: [String: Set<String>]
    /// The arrangements of each root, by its screen.
    private let layouts: [String: [Flow.Layout?]]
    /// The screens that are shown only as the first screens of child flows.
    private let starts: Set<String>
    /// Any state of the flow.
    let unknown: Situation

    init(
        of flow: Flow, _ nodes: [String: FlowGraph.Node], _ graph: FlowGraph, soleSenders: [String: Set<String>],
        rootSenders: [String: Set<String>]
    ) {
        self.flow = flow
        self.nodes = nodes
        self.soleSenders = soleSenders
        self.rootSenders = rootSenders
        layouts = flow.layouts
        unknown = Situation(layouts: .known(layouts.values.flatMap(\.self)))
        let others = graph.edges.filter { $0.begins == nil }.compactMap(\.to)
        starts = Set(flow.flows.values.map(\.start)).subtracting(others + [flow.start])
    }

    /// The states in which a rule can apply.
    ///
    /// - Parameter child: The name of the child flow that has the rule. Nil for the flow itself.
    /// - Throws: ``Impossibility`` if there is none.
    func start(of rule: Flow.Transition, in child: String?) throws(Impossibility) -> Situation {
        let layouts = try requiredLayouts(of: rule)
        let front = try front(of: rule)
        if let child { return start(inRunOf: child, front: front) }
        var situation = unknown
        if !layouts.isEmpty { situation.layouts = .known(layouts) }
        for condition in rule.when { situation.require(condition) }
        for condition in rule.unless { situation.exclude(condition) }
        try situation.requireFront(
            front, placements: Set(front.flatMap { nodes[$0]?.placements ?? [] }),
            hasPath: !rule.screens(in: .path).isEmpty)
        return situation
    }

    /// The states in which a rule of a child flow can apply. It works on the stack of its run, which need not be in
    /// front, and cannot pop the first screen of that run.
    private func start(inRunOf child: String, front: [String]) -> Situation {
        var situation = unknown
        if let start = flow.flows[child]?.start, front == [start], starts.contains(start) { situation.path = .none }
        return situation
    }

    /// The arrangements of the roots of which the rule requires one. Empty if it does not require a root.
    private func requiredLayouts(of rule: Flow.Transition) throws(Impossibility) -> [Flow.Layout?] {
        let required = rule.screens(in: .root)
        if let senders = rule.senders(among: rootSenders), !required.isEmpty, senders.isDisjoint(with: required) {
            throw Impossibility(
                message: "only \(Self.list(senders)) sends \(Self.list(rule.on)), which is always the root, and 'root' "
                    + "requires another screen; correct 'root', or 'sends' of that screen")
        }
        return required.flatMap { layouts[$0] ?? [] }
    }

    /// The screens of which one is in front when the rule applies. Empty if the flow does not determine them.
    private func front(of rule: Flow.Transition) throws(Impossibility) -> [String] {
        let required = rule.screens(in: .top)
        guard let senders = rule.senders(among: soleSenders) else { return required }
        let front = required.isEmpty ? senders.sorted() : required.filter(senders.contains)
        let excluded = Set(rule.unless.filter { $0.scope == .top }.flatMap(\.plainScreens))
        guard excluded.isSuperset(of: front) else { return front }
        throw Impossibility(
            message:
                "only \(Self.list(senders)) sends \(Self.list(rule.on)), and the conditions require another screen in "
                + "front; correct the conditions, or 'sends' of that screen")
    }

    private static func list(_ names: some Sequence<String>) -> String {
        names.sorted().map { "'\($0)'" }.joined(separator: " or ")
    }
}

extension Flow {
    /// The arrangements of each root, by its screen.
    fileprivate var layouts: [String: [Flow.Layout?]] {
        var layouts: [String: [Flow.Layout?]] = [start: [nil]]
        for action in (placedRules + placedLinks).flatMap(\.transition.possibleActions) {
            if case .setRoot(let root, container: let layout) = action {
                layouts[root.screen, default: []].append(layout)
            }
        }
        return layouts
    }
}
