extension Machine {
    /// A rule that matches, and the run of the child flow that it is a rule of.
    typealias Match = (transition: Flow.Transition, run: FlowRun?)

    /// The first rule that matches the message and the state as it is.
    func match(_ input: Input) -> Match? {
        match(step(for: input), runs: runs(for: input))
    }

    /// The first rule that matches the step's message and the state that it met: of these runs' flows in their order, or
    /// else of the flow itself.
    func match(_ step: Step, runs: [FlowRun]) -> Match? {
        for run in runs {
            let transitions = flow.flows[run.flow]?.transitions ?? []
            if let transition = transitions.first(where: { matches($0, step) }) { return (transition, run) }
        }
        return flow.transitions.first { matches($0, step) }.map { ($0, nil) }
    }

    private func matches(_ transition: Flow.Transition, _ step: Step) -> Bool {
        transition.on == step.input.type
            && (transition.origin == .any || isOwn(step.input))
            && matches(transition.fields, step.input)
            && holds(transition, step)
    }

    /// Whether the state that the step's message met is one that the rule asks for.
    func holds(_ transition: Flow.Transition, _ step: Step) -> Bool {
        transition.when.allSatisfy { $0.holds(in: step) } && !transition.unless.contains { $0.holds(in: step) }
    }

    /// Whether the message has these fields.
    func matches(_ fields: [String: Flow.Match], _ input: Input) -> Bool {
        fields.allSatisfy { $0.value.holds(for: input.data.value(at: $0.key)) }
    }

    /// Whether the message is from the machine's platform, or from none: a tool's report shall work like a view's.
    func isOwn(_ input: Input) -> Bool {
        input.attributes.platform == nil || input.attributes.platform == flow.platform
    }

    /// The dismissed instance that sent this command. Events tell what has happened, which no dismissal undoes.
    func lateInstance(of input: Input) -> String? {
        guard isOwn(input), input.type.hasPrefix("command."), let instance = input.attributes.instance,
            !state.isStanding(instance)
        else { return nil }
        return instance
    }
}

extension Flow.Condition {
    fileprivate func holds(in step: Step) -> Bool {
        holds(in: step.before) { try? step.resolve($0) }
    }
}

extension Machine.Input {
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: id, reason: "\(type): \(reason)")
    }
}
