extension Step {
    /// Ends the attempt if its screen or the child flow of its rule has gone, however that came about.
    ///
    /// - Returns: What an attempt that this step has ended held back, once.
    mutating func settleAttempt() -> [Machine.Input] {
        if let attempt = state.attempt, let loss = loss(of: attempt) {
            state.attempt = nil
            effects.append(attempt.message.discarded(loss))
        }
        guard let ended = waiting, ended.id != state.attempt?.id else { return [] }
        waiting = nil
        memory.noteEnd(ofAttempt: ended.id)
        return ended.queue
    }

    /// What is gone that the attempt needs to end as its rule says.
    private func loss(of attempt: Attempt) -> String? {
        if !state.isStanding(attempt.instance) {
            return "screen instance '\(attempt.instance)' is gone, which it waited on"
        }
        guard let run = attempt.run, state.run(run) == nil else { return nil }
        return "the child flow's run '\(run)' has ended, whose rule waited"
    }
}
