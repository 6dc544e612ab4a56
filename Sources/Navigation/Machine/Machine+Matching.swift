extension Machine {
    /// The first rule of the flow that matches.
    func transition(for input: Input) -> Flow.Transition? {
        flow.transitions.first { transition in
            transition.on == input.type
                && (transition.origin == .any || isOwn(input))
                && transition.fields.allSatisfy { $0.value.holds(for: input.data.value(at: $0.key)) }
                && transition.when.allSatisfy { holds($0, input) }
                && !transition.unless.contains { holds($0, input) }
        }
    }

    private func holds(_ condition: Flow.Condition, _ input: Input) -> Bool {
        condition.holds(in: state) { try? step(for: input).resolve($0) }
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

extension Machine.Input {
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: id, reason: "\(type): \(reason)")
    }
}
