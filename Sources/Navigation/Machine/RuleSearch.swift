internal import Support

/// The result of looking for the rule that answers a message, for a person who tests a flow.
package enum RuleSearch: Hashable, Sendable {
    /// No rule of the flow, or of its open child flows, answers messages of this type.
    case none
    /// No rule matches. The rule with the fewest conditions that do not hold, and the first of them: the place of the
    /// rule in the flow, and that of the condition in the rule, such as `when.root`.
    case missed(rule: String, condition: String)
    /// This rule matches.
    case found(rule: String)
}

extension Machine {
    /// Looks for the rule that answers a message in the current state, without handling the message.
    package func search(_ input: Input) -> RuleSearch {
        let runs = runs(for: input)
        var step = step(for: input)
        if let match = match(&step, runs: runs) { return .found(rule: match.rule.keyPath) }
        var nearest: (count: Int, rule: String, condition: String)?
        for run in runs.map(Optional.some) + [nil] {
            step.scope = run?.id
            for rule in flow.program.rules(of: run?.flow)[input.type].rules {
                let failing = failingConditions(of: rule.transition, step)
                guard let first = failing.first, failing.count < nearest?.count ?? .max else { continue }
                nearest = (failing.count, rule.keyPath, first)
            }
        }
        return nearest.map { .missed(rule: $0.rule, condition: $0.condition) } ?? .none
    }

    /// The places of the conditions of a rule that do not hold.
    private func failingConditions(of rule: Flow.Transition, _ step: StateTransaction) -> [String] {
        let focus = step.focus
        func holds(_ condition: Flow.Condition) -> Bool {
            condition.holds(in: step.before, from: focus) { try? step.resolve($0) }
        }
        let fields = rule.fields.sorted { $0.key < $1.key }.filter { field, match in
            !match.holds(for: step.input.data.value(at: field))
        }
        return (rule.origin == .any || isOwn(step.input) ? [] : ["origin"]) + fields.map { "where.\($0.key)" }
            + rule.when.filter { !holds($0) }.map { "when.\($0.scope.rawValue)" }
            + rule.unless.filter(holds).map { "unless.\($0.scope.rawValue)" }
    }
}
