/// What can come to be in a flow: which screens are ever shown, and which child flows ever run.
///
/// Wherever it takes knowing more than the rules, such as what a path holds at a time, it is taken to be possible.
struct FlowReach {
    private(set) var screens: Set<String>
    private(set) var flows: Set<String> = []

    init(of flow: Flow, along edges: [FlowGraph.Edge]) {
        screens = [flow.start]
        if !Set(flow.requests).isDisjoint(with: [.setRoot, .push, .replacePath, .present, .show]) {
            // Views name screens and flows that rules need not know of.
            screens = Set(flow.screens.keys)
            flows = Set(flow.flows.keys)
        }
        let placed = (flow.placedRules + flow.placedLinks).map { ($0.rule.place, $0.transition) }
        let transitions = Dictionary(placed, uniquingKeysWith: { first, _ in first })
        var waiting = edges
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for edge in waiting {
                guard let rule = transitions[edge.rule.place], mayApply(rule, edge) else { continue }
                if let screen = edge.to, screens.insert(screen).inserted { isGrowing = true }
                if let flow = edge.begins, flows.insert(flow).inserted { isGrowing = true }
            }
            waiting.removeAll { edge in
                edge.to.map(screens.contains) ?? true && edge.begins.map(flows.contains) ?? true
            }
        }
    }

    private func mayApply(_ rule: Flow.Transition, _ edge: FlowGraph.Edge) -> Bool {
        edge.from.map(screens.contains) ?? true
            && edge.rule.flow.map(flows.contains) ?? true
            && rule.when.allSatisfy { condition in
                condition.place == .tab || condition.screens.isEmpty
                    || condition.screens.contains { screens.contains($0.screen) }
            }
    }
}
