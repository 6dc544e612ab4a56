/// What a restored machine does about the attempt that waited.
///
/// It goes on waiting if its screen stands and the flow has its rule. Otherwise it is dropped, visibly, and what it held
/// back is met by the flow as it is now.
struct AttemptSalvage {
    let state: NavigationState
    let memory: NavigationMemory
    let effects: [Machine.Effect]
    let released: [Machine.Input]

    init(of salvaged: NavigationState, from stored: NavigationState, memory: NavigationMemory, flow: Flow) {
        guard let attempt = stored.attempt else {
            (state, self.memory, effects, released) = (salvaged, memory, [], [])
            return
        }
        var step = Step(flow: flow, input: attempt.message, before: stored, memory: memory)
        step.state = salvaged
        if flow.rule(of: attempt, in: salvaged) == nil {
            step.state.attempt = nil
            step.effects = [attempt.message.discarded("the flow no longer has the rule that waited for an answer")]
        }
        released = step.settleAttempt()
        if step.state.attempt != nil {
            step.effects = [.expectAnswer(attempt: attempt.id, within: .milliseconds(attempt.deadline))]
        }
        (state, self.memory, effects) = (step.state, step.memory, step.effects)
    }
}
