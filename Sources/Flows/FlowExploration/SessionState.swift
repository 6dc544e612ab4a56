internal import Navigation

/// A state of a session: the states of its machines, and the events that services may still send.
struct SessionState {
    let machines: [ExploredMachine]
    /// The number of the machines among all combinations of states of machines.
    let combination: Int
    /// The bound events that may still come.
    let pending: AnswerSet
}

/// The number of a combination of states of machines, and the events that may still come with it.
struct SessionKey: Hashable {
    let combination: Int
    let pending: AnswerSet
}

/// Something that can happen to a combination of states of machines.
struct Step {
    /// What it leads to.
    struct Result {
        /// The number of the combination. Nil for one that is not explored.
        let next: Int?
        /// The numbers of the machines' states in a similar combination within the bounds, instead of one that is not
        /// explored. Nil if there is none.
        let similar: [Int]?
        /// The events that may follow.
        let following: AnswerSet
        /// True if the event may have been the only one. An event with values of which neither the flow nor the contract
        /// knows, and which changes nothing, may be about something else.
        let isConsumed: Bool
    }

    /// The number of what happens.
    let occurrence: Int
    /// Nil as long as it was never possible.
    var result: Result?
}

/// The events that must be pending so that something can happen, and those that are pending afterwards.
struct PendingCondition {
    let kind: Occurrence.Kind
    /// The bound event that comes. Empty for everything else.
    let answer: AnswerSet
    /// The events that must be pending. Nil if it comes only from another platform.
    let needed: AnswerSet?
    /// The events that may come afterwards if this answers another platform. Nil if that cannot be.
    let answersToOthers: AnswerSet?
    /// True for a message of another platform.
    let isOthers: Bool

    /// True if it is possible with these pending events, also because of another platform.
    func isFulfilled(by pending: AnswerSet) -> Bool { isOwn(with: pending) || answersToOthers != nil }

    /// True if it is possible without another platform.
    private func isOwn(with pending: AnswerSet) -> Bool { needed.map(pending.isSuperset) ?? false }

    /// The pending events afterwards. There are two possibilities for an event that may come again or not.
    /// - Returns: The possibilities; and true if another platform is needed for them.
    func pending(after pending: AnswerSet, _ result: Step.Result) -> (sets: [AnswerSet], needsOthers: Bool) {
        let kept = pending.union(result.following)
        guard isOwn(with: pending) else { return ([kept.union(answersToOthers ?? [])], true) }
        let without = pending.subtracting(answer).union(result.following)
        return (result.isConsumed && without != kept ? [kept, without] : [kept], false)
    }
}
