internal import Support

/// An act of the user that a report has carried out.
struct PerformedAct {
    let act: Flow.UserAct
    let data: JSONValue
    /// The screen that was left, as it was before. Nil for the selection of a tab.
    var screen: ScreenInstance?
    /// The window in which the user acted.
    let window: NavigationState.Window?
}

extension StateTransaction {
    /// Records that the user has left a screen, if a rule answers this act.
    mutating func recordAct(_ act: Flow.UserAct, from instance: String) {
        guard flow.acts.contains(act), let screen = before.open(instance) else { return }
        occasion = .act(
            PerformedAct(
                act: act, data: ["screen": .string(screen.screen), "instance": .string(instance)], screen: screen,
                window: before.window(of: instance)))
    }

    /// Records that the user has selected a tab, if a rule answers this act.
    mutating func recordAct(selecting tab: String) {
        if flow.acts.contains(.tappedTab) { record(.tabReport(input.id)) }
        let former = before.root.container?.selectedTab ?? tab
        let act: Flow.UserAct = tab == former ? .tappedTab : .selectedTab
        guard flow.acts.contains(act) else { return }
        occasion = .act(
            PerformedAct(act: act, data: ["tab": .string(tab), "former": .string(former)], window: .main))
    }
}

extension Machine {
    /// Lets the first rule that matches the act of the user handle it, in the same step and in the state after the act.
    /// If the rule fails, the act still takes effect.
    func tell(of act: PerformedAct, _ step: inout StateTransaction) {
        step.abandonRuns()
        var told = step
        step.occasion = .message
        told.input.type = act.act.rawValue
        told.input.data = act.data
        told.before = step.state
        guard let match = match(&told, runs: step.state.runsFromFront) else { return }
        told.begin(rule: match.rule.keyPath)
        do {
            for action in match.rule.transition.actions { try told.apply(action) }
            try told.checkSize(from: state)
        } catch {
            told.reset(to: step)
            return step.effects = told.effects + [.failed(error)]
        }
        (told.occasion, told.input, told.before, told.scope, told.layer) = (.message, step.input, step.before, nil, nil)
        step = told
    }
}
