internal import Support

extension Flow {
    /// The rule of a wait. Nil if the flow no longer has the rule, or if the wait's run is not in the state.
    func rule(of wait: PendingWait, in state: NavigationState) -> PreparedRule? {
        let child = state.run(wait.run)?.flow
        if wait.run != nil, child == nil { return nil }
        return program.rules(of: child).waiting.first { $0.transition.name == wait.rule }
    }

    /// True if the rule of a wait is still there, and its conditions hold for the same instances.
    func holds(_ wait: PendingWait, in state: NavigationState) -> Bool {
        guard let rule = rule(of: wait, in: state),
            let instances = instances(fulfilling: rule, run: wait.run, in: state, preferring: wait.instances ?? [])
        else { return false }
        return wait.instances.map { $0 == instances } ?? true
    }

    /// The instances that fulfil the conditions of a rule that waits, one for each condition that names screens. Nil if
    /// the conditions do not hold. No message is handled, so there is no sender.
    ///
    /// - Parameter former: The instances that are chosen if several fulfil a condition.
    fileprivate func instances(
        fulfilling rule: PreparedRule, run: String?, in state: NavigationState, preferring former: [String] = []
    ) -> [String]? {
        var step = StateTransaction(
            flow: self, input: Machine.Input(id: "", type: ""), before: state, memory: NavigationMemory())
        step.scope = run
        guard step.admits(rule) else { return nil }
        let focus = step.focus
        return rule.transition.when.compactMap { condition in
            let instances = condition.instances(in: state, from: focus) { try? step.resolve($0) }.map(\.id)
            return instances.first(where: former.contains) ?? instances.first
        }
    }
}

extension StateTransaction {
    /// Ends the waits whose conditions do not hold in the state of the step, and begins those of further rules.
    mutating func settleWaits() {
        guard flow.program.hasWaits || !state.waits.isEmpty else { return }
        let former = state.waits
        state.waits = former.filter { flow.holds($0, in: state) }
        for wait in former where !state.waits.contains(wait) { record(.endOfAttempt(wait.id)) }
        beginWaits(of: flow.program.rules(of: nil), run: nil)
        for run in state.runs { beginWaits(of: flow.program.rules(of: run.flow), run: run.id) }
    }

    private mutating func beginWaits(of rules: RuleTable, run: String?) {
        for rule in rules.waiting {
            guard let time = rule.transition.after, let name = rule.transition.name,
                state.waits.count < PendingWait.limit,
                !state.waits.contains(where: { $0.rule == name && $0.run == run }),
                let instances = flow.instances(fulfilling: rule, run: run, in: state)
            else { continue }
            let id = DerivedID.make(from: input.id, platform: flow.platform, name: "wait-\(nextNumber())")
            state.waits.append(PendingWait(id: id, rule: name, run: run, instances: instances, delay: time))
            effects.append(.expectAnswer(attempt: id, within: time))
        }
    }
}
