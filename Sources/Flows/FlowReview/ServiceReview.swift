internal import Navigation
internal import Support

extension FlowReviewer {
    /// Finds commands of screens that no service and no rule handles, events and errors of services that nothing
    /// handles, and entries of `ignores` that no service sends.
    mutating func reviewServices(_ catalogue: MessageCatalogue) {
        if catalogue.services.isEmpty { return }
        let answered = flow.messageTypes
        let served = catalogue.services.values.reduce(answered) { $0.union($1.receives) }
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            // An unknown message has been reported already.
            for type in screen.sends where !served.contains(type) && catalogue.data[type] != nil {
                warn(
                    .unhandledCommand, "no service and no rule handles '\(type)'; add one",
                    at: "screens.\(screen.name).sends")
            }
        }
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

extension Flow.Action {
    /// The type of the command that the action sends. Nil if the action is not `send`.
    var command: String? {
        if case .send(type: let type, data: _) = self { type } else { nil }
    }
}
