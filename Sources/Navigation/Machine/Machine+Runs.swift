// Child flows: whose rules are asked, and who hears of a run's end.
extension Machine {
    /// How many runs one message may end, one after the other. Rules that begin a flow whenever it is abandoned, and
    /// abandon it at once, would go on for ever.
    private static let endingLimit = 64

    /// The runs whose rules are asked before the flow's own, each before the one that began it.
    ///
    /// A command is an intent on the screen that sent it. Anything else is for the screen in front, and then for all
    /// others that the user can act on.
    func runs(for input: Input) -> [FlowRun] {
        guard !state.runs.isEmpty else { return [] }
        if input.type.hasPrefix("command."), let sender = sender(of: input) { return state.lineage(of: sender.run) }
        var runs: [FlowRun] = []
        for screen in [state.top] + state.active {
            for run in state.lineage(of: screen.run) where !runs.contains(run) { runs.append(run) }
        }
        return runs
    }

    /// The screen that a message of the machine's own platform came from.
    func sender(of input: Input) -> ScreenInstance? {
        guard isOwn(input), let instance = input.attributes.instance else { return nil }
        return state.standing.first { $0.id == instance }
    }

    /// Tells those who began a run of its end, in the same step, until no more of them ends.
    ///
    /// - Throws: What their rules throw.
    func tellOfEndings(_ step: inout Step) throws(NavigationFailure) {
        let origin = step.input
        step.abandonRuns()
        var count = 0
        while !step.endings.isEmpty {
            count += 1
            guard count <= Self.endingLimit else { throw .endlessFlows }
            let ending = step.endings.removeFirst()
            // Whoever began it may have ended with it.
            guard ending.run.parent == nil || step.state.run(ending.run.parent) != nil else { continue }
            try tell(of: ending, on: origin, &step)
            step.abandonRuns()
        }
        step.input = origin
    }

    private func tell(of ending: RunEnding, on origin: Input, _ step: inout Step) throws(NavigationFailure) {
        step.input = ending.message(on: origin)
        // What a guard was asked and answered is for the rule alone that ended the flow.
        step.asked = nil
        step.before = step.state
        step.isLiteral = false
        guard let match = match(step, runs: step.state.lineage(of: ending.run.parent)) else { return }
        step.scope = match.run?.id
        for action in match.transition.actions { try step.apply(action) }
    }

    /// Tells of the runs that a view's report has ended. What has happened has happened: when a rule that is told of it
    /// cannot be applied, the report has its effect all the same.
    func tellOfReportedEndings(_ step: inout Step) {
        let origin = step.input
        step.abandonRuns()
        var attempt = step
        do {
            try tellOfEndings(&attempt)
            try attempt.checkSize(from: state)
            step = attempt
        } catch {
            step.input = origin
            step.endings = []
            step.effects.append(.failed(error))
        }
    }
}
