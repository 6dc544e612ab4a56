extension Step {
    /// Ends the attempt if its screen has gone, however that came about.
    ///
    /// - Returns: What an attempt that this step has ended held back, once.
    mutating func settleAttempt() -> [Machine.Input] {
        if let attempt = state.attempt, !state.isStanding(attempt.instance) {
            state.attempt = nil
            effects.append(
                attempt.message.discarded("screen instance '\(attempt.instance)' is gone, which it waited on"))
        }
        guard let ended = waiting, ended.id != state.attempt?.id else { return [] }
        waiting = nil
        memory.noteEnd(ofAttempt: ended.id)
        return ended.queue
    }
}
