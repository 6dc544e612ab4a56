extension FlowReviewer {
    /// Looks for commands that nobody handles, and for what services tell that the flow does not hear.
    mutating func reviewServices(_ catalogue: MessageCatalogue) {
        if catalogue.services.isEmpty { return }
        let answered = flow.messageTypes
        let served = catalogue.services.values.reduce(answered) { $0.union($1.receives) }
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            // That there is no such message at all has been said.
            for type in screen.sends where !served.contains(type) && catalogue.fields[type] != nil {
                warn("nobody handles '\(type)': no service and no rule; add one", at: "screens.\(screen.name).sends")
            }
        }
        reviewOutcomes(catalogue, answered)
        let told = catalogue.services.values.reduce(into: Set()) { $0.formUnion($1.outcomes) }
        for type in flow.ignores where !told.contains(type) {
            let advice = Spelling.nearest(to: type, in: told).map { "did you mean '\($0)'?" } ?? "remove it"
            warn("no service sends '\(type)'; \(advice)", at: "ignores")
        }
    }

    /// Only of services that the flow has to do with: an app may have others, for other flows.
    private mutating func reviewOutcomes(_ catalogue: MessageCatalogue, _ answered: Set<String>) {
        let sent = Set(flow.placedRules.flatMap(\.transition.possibleActions).compactMap(\.command))
            .union(flow.links.flatMap(\.sends).map(\.type)).union(senders.keys)
        var seen = answered.union(flow.ignores)
        for (name, service) in catalogue.services.sorted(by: { $0.key < $1.key }) {
            let isConcerned = !service.receives.isDisjoint(with: sent) || !service.outcomes.isDisjoint(with: answered)
            guard isConcerned else { continue }
            let heard = catalogue.services.filter { $0.key != name }.values.reduce(seen) { $0.union($1.receives) }
            for type in service.outcomes.subtracting(heard).sorted() {
                note("no rule answers '\(type)' of \(name); add one, or name it under 'ignores'", at: "transitions")
                seen.insert(type)
            }
        }
    }
}

extension Flow.Action {
    /// The command that it sends.
    var command: String? {
        if case .send(let type, _) = self { type } else { nil }
    }
}
