package import Navigation
internal import Support

extension FlowReviewer {
    /// Finds commands that no service and no rule handles, questions that nothing answers, events and errors of services
    /// that nothing handles, and entries of `ignores` that no service sends.
    mutating func reviewServices(_ catalogue: MessageCatalogue) {
        if catalogue.services.isEmpty { return }
        let answered = flow.messageTypes
        let served = catalogue.services.values.reduce(answered.union(catalogue.flowCommands)) { $0.union($1.receives) }
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            // An unknown message has been reported already.
            for type in screen.sends where !served.contains(type) && catalogue.data[type] != nil {
                warn(
                    .unhandledCommand, "no service and no rule handles '\(type)'; add one",
                    at: "screens.\(screen.name).sends")
            }
        }
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            let sent = transition.possibleActions.flatMap(\.commands)
            for type in Set(sent).subtracting(served).sorted() where catalogue.data[type] != nil {
                warn(.unhandledCommand, "no service and no rule handles '\(type)'; add one", at: rule.keyPath)
            }
        }
        add(flow.unansweredQuestions(catalogue))
        reviewOutcomes(catalogue, answered)
        let told = catalogue.services.values.reduce(into: Set()) { $0.formUnion($1.outcomes) }
        for type in flow.ignores where !told.contains(type) {
            let advice = Spelling.nearest(to: type, in: told).map { "did you mean '\($0)'?" } ?? "remove it"
            warn(.unusedIgnore, "no service sends '\(type)'; \(advice)", at: "ignores")
        }
    }

    /// Adds notes about the events and errors that no rule answers, that no other service receives and that are not in
    /// `ignores`.
    /// A service is skipped if it receives no command of the flow and sends no message that the flow answers.
    private mutating func reviewOutcomes(_ catalogue: MessageCatalogue, _ answered: Set<String>) {
        let sent = Set(flow.placedRules.flatMap(\.transition.possibleActions).compactMap(\.command))
            .union(flow.links.flatMap(\.sends).map(\.type)).union(senders.keys)
        var seen = answered.union(flow.ignores)
        for (name, service) in catalogue.services.sorted(by: { $0.key < $1.key }) {
            let isConcerned = !service.receives.isDisjoint(with: sent) || !service.outcomes.isDisjoint(with: answered)
            guard isConcerned else { continue }
            let received = catalogue.services.filter { $0.key != name }.values.reduce(seen) { $0.union($1.receives) }
            for type in service.outcomes.subtracting(received).sorted() {
                addNote(
                    .unansweredMessage,
                    "no rule answers '\(type)' of \(name); add one, or list the type under 'ignores'", at: "transitions"
                )
                seen.insert(type)
            }
        }
    }
}

extension Flow {
    /// The guards whose answers no service sends, according to the handlers of services.
    package func unansweredQuestions(_ catalogue: MessageCatalogue) -> [FlowChecker.Problem] {
        placedRules.compactMap { place, rule in
            guard let condition = rule.guard else { return nil }
            let questions = condition.ask.map { [$0.type] } ?? rule.on
            // Rules with one question are asked together.
            let guards = guardedRules.filter { $0.asks(like: rule) }.compactMap(\.guard)
            let answers = Set(guards.flatMap { $0.accept.on + ($0.reject?.on ?? []) }).sorted()
            if questions.contains(where: { question in answers.contains { catalogue.canAnswer(question, with: $0) } }) {
                return nil
            }
            func words(_ types: [String]) -> String { types.map { "'\($0)'" }.joined(separator: " or ") }
            return FlowChecker.Problem(
                keyPath: "\(place.keyPath).guard",
                message:
                    "no service answers \(words(questions)) with \(words(answers)), so only the deadline ends this; correct one of them",
                severity: .warning, code: .deadEnd)
        }
    }
}

extension MessageCatalogue {
    /// True if a message can answer one of another type: if a handler of that type sends it, or if something sends it of
    /// which no handler is known.
    package func canAnswer(_ question: String, with answer: String) -> Bool {
        guard answer.begins(with: "event.") || answer.begins(with: "error.") else { return true }
        let senders = services.values.filter { $0.sends.contains(answer) || $0.outcomes.contains(answer) }
        return senders.isEmpty && !isUnsent(answer)
            || senders.contains { $0.answers?[question]?.contains(answer) == true || $0.sendsUnasked(answer) }
    }

    /// The events that processes of Segue itself send.
    private static let ofPlatform: Set<String> = [
        "event.LaunchFinished", "event.DeepLinkReceived", "event.SessionEnded", "event.ScreenDismissed",
        "event.MessageDiscarded", "event.GuardDeadlinePassed", "event.URLOpenRequested", "event.MetricsRequested",
        "event.MetricsReported",
    ]

    /// True for an event that a service handles, and that nothing sends, as far as handlers are known.
    package func isUnsent(_ type: String) -> Bool {
        type.begins(with: "event.") && !Self.ofPlatform.contains(type)
            && services.values.contains { $0.answers != nil }
            && services.values.contains { $0.receives.contains(type) }
            && !services.values.contains { $0.sends.contains(type) || $0.outcomes.contains(type) }
    }
}

extension MessageCatalogue.Service {
    /// True if the service sends a message otherwise than from a handler, or if its handlers are not known.
    package func sendsUnasked(_ type: String) -> Bool {
        guard sends.contains(type) || outcomes.contains(type) else { return false }
        return answers.map { !$0.values.contains { $0.contains(type) } } ?? true
    }
}

extension Flow.Action {
    /// The types of the commands that the action sends, also by buttons.
    fileprivate var commands: [String] {
        if case .present(_, as: _, options: let options) = self { return (options.buttons ?? []).compactMap(\.sends) }
        return [command].compactMap(\.self)
    }

    /// The type of the command that the action sends. Nil if the action is not `send`.
    var command: String? {
        if case .send(type: let type, data: _) = self { type } else { nil }
    }
}
