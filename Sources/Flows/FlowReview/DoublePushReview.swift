internal import Navigation
internal import Support

extension FlowReviewer {
    /// Finds rules on commands of screens that push a screen twice if the user taps twice.
    ///
    /// That is a rule without a guard that still applies after its own actions, while the screen that sent the command
    /// is still open.
    mutating func reviewDoublePushes() {
        let hasColumns = graph.nodes.contains { $0.placements.contains(where: \.isColumn) }
        let containers = Set(
            flow.allTransitions.flatMap(\.possibleActions).compactMap { action in
                if case .setRoot(let root, container: .some) = action { root.screen } else { nil }
            })
        var earlier: [[String]: [Flow.Transition]] = [:]
        for (rule, transition) in flow.placedRules {
            let types = transition.on.filter { $0.begins(with: "command.") }
            if types.isEmpty { continue }
            // Only earlier rules on each of the types surely apply instead of this rule.
            let before = types.dropFirst().reduce(earlier[[rule.flow ?? "", types[0]]] ?? []) { rules, type in
                rules.filter { $0.on.contains(type) }
            }
            for type in types { earlier[[rule.flow ?? "", type], default: []].append(transition) }
            guard transition.guard == nil, transition.actions.contains(where: { $0.name == .push }) else { continue }
            let senders = Set(types.flatMap { self.senders[$0] ?? [] }).sorted().filter { name in
                nodes[name].map { $0.isReached && !$0.isQuestion } ?? false
            }
            guard !senders.isEmpty,
                let result = TapResult(
                    of: transition, in: flow, hasColumns: hasColumns,
                    areSendersPresented: senders.allSatisfy { nodes[$0]?.isPresented ?? false }),
                let (index, screen) = result.pushes.first,
                !result.prevents(transition, after: before)
            else { continue }
            if let top = result.top, !hasColumns, covers(top, senders, transition, containers) { continue }
            warn(
                .doublePush,
                "two taps push '\(screen)' twice, because the rule still applies after the first one; write "
                    + "'once: true' at screen '\(screen)', or 'unless: { top: \(screen) }' in the rule",
                at: "\(rule.keyPath).do[\(index)]")
        }
    }

    /// True if the rule requires that the sender is shown, and the pushed screen covers it.
    private func covers(
        _ top: Flow.Destination, _ senders: [String], _ rule: Flow.Transition, _ containers: Set<String>
    ) -> Bool {
        rule.when.contains { condition in
            condition.scope == .shown
                && condition.screens.allSatisfy {
                    $0.screen != top.screen && senders.contains($0.screen) && !containers.contains($0.screen)
                }
        }
    }
}

/// The certain facts about the state after the actions of a rule that pushes.
private struct TapResult {
    /// The screens that the rule pushes and that are not shown only once, with the indices of their actions.
    private(set) var pushes: [(index: Int, screen: String)] = []
    /// The screen in front. Nil if it is not known.
    private(set) var top: Flow.Destination?
    private var others: [Flow.Condition] = []

    /// - Returns: Nil if the actions certainly remove what they have pushed before, or the screen that sent the
    ///   command.
    init?(of rule: Flow.Transition, in flow: Flow, hasColumns: Bool, areSendersPresented: Bool) {
        for (index, action) in rule.actions.enumerated() {
            switch action {
            case .dismissAll, .ifPossible(.dismiss):
                if areSendersPresented { return nil }
                forgetFront()
                continue
            default: break
            }
            switch action.unconditional {
            case .push(let destination, on: let stack):
                push(destination, at: index, in: flow, isInFront: stack == nil || (stack == .sender && !hasColumns))
            case .pushFlow(let name, arguments: let arguments, on: let stack):
                guard let start = flow.flows[name]?.start else { return nil }
                push(
                    .screen(start, arguments), at: index, in: flow,
                    isInFront: stack == nil || (stack == .sender && !hasColumns))
            case .present(let destination, as: _, options: _): present(destination)
            case .presentFlow(let name, arguments: let arguments, as: _, options: _):
                guard let start = flow.flows[name]?.start else { return nil }
                present(.screen(start, arguments))
            case .selectTab(let name):
                forgetFront()
                others.removeAll { $0.scope == .tab }
                others.append(.tab(name))
            case .send, .openURL, .show: break
            default: return nil
            }
        }
    }

    private mutating func push(_ destination: Flow.Destination, at index: Int, in flow: Flow, isInFront: Bool) {
        if flow.screens[destination.screen]?.once != true { pushes.append((index, destination.screen)) }
        guard isInFront else { return others.append(.shown(.init(destination))) }
        top = destination
        others.append(.path(.init(destination)))
    }

    private mutating func present(_ destination: Flow.Destination) {
        top = destination
        others.append(.presented(.init(destination)))
    }

    /// Forgets the screens in front, because another action has removed or covered them.
    private mutating func forgetFront() {
        top = nil
        others.removeAll { $0.scope == .path || $0.scope == .presented }
    }

    /// True if the rule does not apply again, or an earlier rule applies instead.
    func prevents(_ rule: Flow.Transition, after earlier: [Flow.Transition]) -> Bool {
        let facts = others + (top.map { [.top(.init($0))] } ?? [])
        if rule.unless.contains(where: { condition in facts.contains { $0.implies(condition) } }) { return true }
        if rule.when.contains(where: { condition in facts.contains { $0.excludes(condition) } }) { return true }
        var again = Occasion(of: rule)
        again.when += facts
        return earlier.contains { again.implies(Occasion(of: $0)) }
    }
}

extension FlowGraph.Node {
    /// True if the screen is only shown as a presentation.
    fileprivate var isPresented: Bool { !placements.isEmpty && placements.allSatisfy(\.isPresented) }

    /// True if the screen is only shown as an alert or a dialog, which the first tap closes.
    fileprivate var isQuestion: Bool {
        !placements.isEmpty
            && placements.allSatisfy { if case .presented(let style) = $0 { style.isQuestion } else { false } }
    }
}
