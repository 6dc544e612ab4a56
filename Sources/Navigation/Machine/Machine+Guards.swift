// Rules that wait for an answer.
//
// One attempt waits at a time. Its end is a message like any other: an answer, or the deadline, which the host reports.
// Meanwhile
// - events and views' reports are met at once, for they tell what has happened; when the attempt's screen goes with
//   what they change, the attempt goes too (see `Step.settleAttempt`);
// - the user's commands, and whatever else would begin another attempt, are the guard's to hold back.
extension Machine {
    /// The type of the message by which the host reports that an attempt has waited long enough.
    public static let deadlinePassed = "event.GuardDeadlinePassed"

    /// Puts the question of a guarded rule; the step goes on from there when the answer comes.
    mutating func begin(_ rule: Flow.Transition, _ condition: Flow.Guard, _ step: Step) -> [Effect] {
        let input = step.input
        guard input.data.description.utf8.count <= Attempt.dataLimit else {
            return commit(step) + [input.discarded("its data is too large to wait for an answer")]
        }
        let sender = isOwn(input) ? input.attributes.instance : nil
        var attempt = Attempt(
            id: input.id,
            rule: rule.name ?? "",
            instance: sender.flatMap { state.isStanding($0) ? $0 : nil } ?? state.top.id,
            run: step.scope,
            deadline: condition.deadline,
            message: input
        )
        var asked = step
        if let former = asked.state.attempt {
            asked.effects.append(former.message.discarded("\(input.type) has taken its place while it waited"))
        }
        if let ask = condition.ask {
            attempt.id = DerivedID.make(from: input.id, platform: flow.platform, name: "ask")
            do {
                let data = try asked.resolve(ask.data)
                asked.effects.append(
                    .ask(
                        id: attempt.id,
                        type: ask.type,
                        data: data,
                        instance: attempt.instance,
                        within: condition.deadline
                    ))
            } catch {
                return commit(step) + [.failed(error)]
            }
        }
        asked.effects.append(.expectAnswer(attempt: attempt.id, within: condition.deadline))
        asked.state.attempt = attempt
        return commit(asked)
    }

    /// Ends the attempt if this is its answer; nil when it is none.
    mutating func takeAnswer(_ input: Input) -> [Effect]? {
        guard let attempt = state.attempt, input.attributes.causationID == attempt.id else { return nil }
        let rules = flow.rules(of: attempt, in: state)
        if let rule = rules.first(where: { $0.guard.map { matches($0.accept, input) } ?? false }) {
            guard holds(rule, step(for: attempt.message)) else {
                let reason = "the state that its rule asks for is no more, now that it is accepted"
                return conclude(attempt, with: [], input, [attempt.message.discarded(reason)])
            }
            return conclude(attempt, with: rule.actions, input)
        }
        let rejecting = rules.compactMap(\.guard).first { $0.reject.map { matches($0, input) } ?? false }
        guard let condition = rejecting else { return nil }
        // Nobody has said what a rejection does, so it is a fact like others, such as that the user is logged out.
        if condition.rejected.isEmpty, let match = match(input) {
            var step = step(for: input)
            step.state.attempt = nil
            return take(match, step)
        }
        return conclude(attempt, with: condition.rejected, input)
    }

    /// Ends the attempt for which the host has waited. An answer may have been faster.
    mutating func expire(_ input: Input) -> [Effect] {
        guard let id = input.data["attempt"]?.stringValue else {
            return [input.discarded("the field 'attempt' is missing")]
        }
        guard let attempt = state.attempt, attempt.id == id else {
            return memory.knows(attempt: id) ? [] : [input.discarded("no attempt '\(id)' waits")]
        }
        let actions = flow.rule(of: attempt, in: state)?.guard?.expired ?? []
        return conclude(attempt, with: actions, input, [attempt.message.discarded("no answer came in time")])
    }

    /// What becomes of a message that must not be met while an attempt waits; nil when it may.
    mutating func holdBack(_ input: Input) -> [Effect]? {
        guard let attempt = state.attempt, let condition = flow.rule(of: attempt, in: state)?.guard else { return nil }
        let rule = match(input)?.transition
        guard input.isIntent || rule?.guard != nil else { return nil }
        if attempt.holds(input) { return [] }
        switch condition.meanwhile {
        case .supersede: return nil
        case .drop:
            // What no rule answers is not worth a word, now as ever.
            guard rule != nil || input.isNavigationRequest else { return nil }
            return [input.discarded("\(attempt.message.type) waits for an answer")]
        case .queue:
            // A rule that does not match now may do so then.
            guard flow.messageTypes.contains(input.type) || input.isNavigationRequest else { return nil }
            return enqueue(input)
        }
    }

    /// Says that nothing has come of an answer because its attempt has ended; empty when it answers nothing.
    func lateAnswer(_ input: Input) -> [Effect] {
        guard let id = input.attributes.causationID, memory.knows(attempt: id) else { return [] }
        let answers = flow.guardedRules.compactMap(\.guard).flatMap { [$0.accept] + ($0.reject.map { [$0] } ?? []) }
        return answers.contains { matches($0, input) } ? [input.discarded("the attempt '\(id)' has ended")] : []
    }

    private mutating func enqueue(_ input: Input) -> [Effect] {
        var step = step(for: input)
        guard let count = step.state.attempt?.queue.count, count < Attempt.queueLimit else {
            return [input.discarded("\(Attempt.queueLimit) messages wait already")]
        }
        guard input.data.description.utf8.count <= Attempt.dataLimit else {
            return [input.discarded("its data is too large to wait")]
        }
        step.state.attempt?.queue.append(input)
        return commit(step)
    }

    /// Takes what an attempt led to. It has ended also when that cannot be done.
    private mutating func conclude(
        _ attempt: Attempt,
        with actions: [Flow.Action],
        _ input: Input,
        _ effects: [Effect] = []
    ) -> [Effect] {
        var ended = step(for: input)
        ended.asked = attempt.message
        ended.scope = state.run(attempt.run)?.id
        ended.state.attempt = nil
        ended.effects = effects
        return perform(actions, ended).began(attempt.message.attributes)
    }

    private func matches(_ answer: Flow.Guard.Answer, _ input: Input) -> Bool {
        answer.on == input.type && matches(answer.fields, input)
    }
}

extension Machine.Input {
    /// Whether this is what a user wants. All else tells what has happened, whatever anybody waits for.
    var isIntent: Bool { type.hasPrefix("command.") }

    /// Whether this asks for an action by its name, which needs no rule.
    fileprivate var isNavigationRequest: Bool { type == Flow.requestType }
}

extension [Machine.Effect] {
    /// The same, as what began where these attributes say.
    func began(_ attributes: Machine.Attributes) -> [Machine.Effect] {
        isEmpty ? [] : [.began(attributes)] + self
    }
}
