extension Machine {
    /// The first rule of the flow that matches.
    func transition(for input: Input) -> Flow.Transition? {
        flow.transitions.first { transition in
            transition.on == input.type
                && (transition.origin == .any || isOwn(input))
                && matches(transition.fields, input)
                && holds(transition)
        }
    }

    /// Whether the state is one that the rule asks for.
    func holds(_ transition: Flow.Transition) -> Bool {
        transition.when.allSatisfy { $0.holds(in: state) } && !transition.unless.contains { $0.holds(in: state) }
    }

    /// Whether the message has these fields.
    func matches(_ fields: [String: JSONValue], _ input: Input) -> Bool {
        fields.allSatisfy { matches($0.value, input.data.value(at: $0.key)) }
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

    private func matches(_ expected: JSONValue, _ value: JSONValue?) -> Bool {
        guard let value else { return false }
        return expected.arrayValue?.contains(value) ?? (expected == value)
    }
}

extension Machine.Input {
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: id, reason: "\(type): \(reason)")
    }
}
