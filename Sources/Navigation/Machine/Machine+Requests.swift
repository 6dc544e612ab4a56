// The imperative style: a view asks for an action instead of telling what happened, and the flow says for which.
//
// A request is an intent of the moment. What the flow does not allow, what makes no sense and what the state does not
// admit is therefore discarded, visibly, where a rule's action that cannot be taken is an error in the flow. So is what
// is as it should be already: whoever calls a method waits for an answer, a new state or this.
extension Machine {
    mutating func handleRequest(_ input: Input) -> [Effect] {
        guard let json = input.data["action"] else { return [input.discarded("the field 'action' is missing")] }
        var step = step(for: input)
        // The arguments come from outside: what looks like a template in them is text.
        step.isLiteral = true
        // What a view opens belongs to the child flow that it is part of.
        step.scope = (sender(of: input) ?? state.top).run
        do {
            try step.apply(flow.requestedAction(json))
            try tellOfEndings(&step)
            try step.checkSize(from: state)
        } catch {
            return [input.discarded(error.message)]
        }
        let isIdle = step.state == state && step.effects.isEmpty
        return isIdle ? [input.discarded("nothing changes: it is so already")] : commit(step)
    }
}
