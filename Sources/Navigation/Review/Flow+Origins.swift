extension Flow {
    /// The screens where a rule may apply, by name; a single nil is anywhere.
    ///
    /// The one that must be in front says most. Then comes who sends the message, for a command is meant by a screen that
    /// is there, and then the screens that must be there.
    ///
    /// - Parameter senders: The screens that send each command.
    func origins(of transition: Transition, senders: [String: Set<String>]) -> [String?] {
        let candidates = [
            transition.screens(in: .top), senders[transition.on]?.sorted() ?? [], enders(of: transition),
            transition.screens(in: .shown), transition.screens(in: .presented), transition.screens(in: .path),
            transition.screens(in: .root),
        ]
        let excluded = Set(transition.unless.filter { [.top, .shown].contains($0.place) }.flatMap(\.plainScreens))
        for names in candidates {
            let origins = Set(names).subtracting(excluded)
            if !origins.isEmpty { return origins.sorted() }
        }
        return [nil]
    }

    /// The screens that send each command: by themselves, or by a button of a question.
    var senders: [String: Set<String>] {
        var senders: [String: Set<String>] = [:]
        for screen in screens.values {
            for type in screen.sends { senders[type, default: []].insert(screen.name) }
        }
        for action in allTransitions.flatMap(\.possibleActions) {
            guard case .present(let destination, _, let options) = action else { continue }
            for button in options.buttons ?? [] {
                if let type = button.sends { senders[type, default: []].insert(destination.screen) }
            }
        }
        return senders
    }

    /// Where a child flow begins whose end a rule answers.
    private func enders(of transition: Transition) -> [String] {
        guard Ending(rawValue: transition.on) != nil else { return [] }
        return (transition.fields["flow"]?.anyOf ?? []).compactMap { $0.stringValue.flatMap { flows[$0]?.start } }
    }
}

extension Flow.Transition {
    /// The screens of which one must be in a place.
    func screens(in place: Flow.Condition.Place) -> [String] {
        when.filter { $0.place == place }.flatMap { $0.screens.map(\.screen) }
    }
}

extension Flow.Condition {
    /// The screens that it looks for with any arguments.
    var plainScreens: [String] { screens.filter(\.arguments.isEmpty).map(\.screen) }
}
