extension FlowChecker {
    mutating func check(_ child: Flow.Child) {
        let place = "flows.\(child.name)"
        checkScreen(child.start, at: "\(place).start")
        for (index, transition) in child.transitions.enumerated() {
            check(transition, at: "\(place).transitions[\(index)]")
            checkEndings(in: transition, isInChild: true, at: "\(place).transitions[\(index)]")
        }
    }

    /// YAML forbids a key to stand twice; a builder has to be told.
    mutating func checkUniqueness(of flows: [Flow.Child]) {
        var names = Set<String>()
        for flow in flows where !names.insert(flow.name).inserted {
            report("flow '\(flow.name)' is declared twice; remove one", at: "flows.\(flow.name)")
        }
    }

    /// A rule that ends its flow has nothing more to do: what follows is for the rules of whoever began it to say.
    mutating func checkEndings(in transition: Flow.Transition, isInChild: Bool, at place: String) {
        checkEndings(in: transition.actions, isInChild, at: "\(place).do")
        checkEndings(in: transition.guard?.rejected ?? [], isInChild, at: "\(place).guard.rejected")
        checkEndings(in: transition.guard?.expired ?? [], isInChild, at: "\(place).guard.expired")
    }

    private mutating func checkEndings(in actions: [Flow.Action], _ isInChild: Bool, at place: String) {
        for (index, action) in actions.enumerated() where [.finish, .abandon].contains(action.name) {
            let name = action.name.rawValue
            if !isInChild {
                report("'\(name)' ends a child flow; use it in a rule of one", at: "\(place)[\(index)]")
            } else if index != actions.indices.last {
                report("'\(name)' ends the flow; make it the last action", at: "\(place)[\(index)]")
            }
        }
    }

    mutating func checkFlow(_ name: String, _ arguments: [String: JSONValue], at place: String) {
        if flow.flows[name] == nil {
            let advice = Spelling.advice(for: name, among: flow.flows.keys)
            report("unknown flow '\(name)'; \(advice)", at: "\(place).flow")
        }
        checkTemplates(in: .object(arguments), at: "\(place).arguments")
    }

    /// A rule on a flow's ending that names a flow must name one that there is.
    mutating func checkEndingFields(of transition: Flow.Transition, at place: String) {
        for name in transition.fields["flow"]?.anyOf?.compactMap(\.stringValue) ?? [] where flow.flows[name] == nil {
            let advice = Spelling.advice(for: name, among: flow.flows.keys)
            report("unknown flow '\(name)'; \(advice)", at: "\(place).where.flow")
        }
        if transition.guard != nil {
            report(
                "a rule on '\(transition.on)' cannot wait: the flow's end is one step; guard the rule that ends it",
                at: place)
        }
    }
}
