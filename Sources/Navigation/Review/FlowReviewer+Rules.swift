extension FlowReviewer {
    /// Looks at rules beside each other: those of one flow, by the message that they answer.
    mutating func reviewRules() {
        let lists = Dictionary(grouping: flow.placedRules) { [$0.rule.flow ?? "", $0.transition.on] }
        for list in lists.values.sorted(by: { $0[0].rule.place < $1[0].rule.place }) {
            let rules = list.map { Rule(place: $0.rule.place, transition: $0.transition) }
            for rule in rules { reviewContradictions(in: rule) }
            reviewOrder(of: rules.filter { !$0.isImpossible })
        }
        reviewSenders()
    }

    struct Rule {
        let place: String
        let transition: Flow.Transition
        let occasion: Occasion

        init(place: String, transition: Flow.Transition) {
            self.place = place
            self.transition = transition
            occasion = Occasion(of: transition)
        }

        var isImpossible: Bool {
            occasion.contradiction != nil || occasion.fields.values.contains(where: \.isImpossible)
        }

        func asksTheSame(as other: Rule) -> Bool {
            transition.actions == other.transition.actions && transition.guard == other.transition.guard
        }
    }

    private mutating func reviewContradictions(in rule: Rule) {
        for (field, match) in rule.transition.fields.sorted(by: { $0.key < $1.key }) where match.isImpossible {
            warn("no value is all of this, so the rule never applies", at: "\(rule.place).where.\(field)")
        }
        guard let (wanted, unwanted) = rule.occasion.contradiction else { return }
        warn(
            "'when' asks for what 'unless' forbids, so the rule never applies; remove one of them",
            at: "\(rule.place).unless.\(unwanted.place.rawValue)",
            see: "\(rule.place).when.\(wanted.place.rawValue)")
    }

    private mutating func reviewOrder(of rules: [Rule]) {
        var effective: [Rule] = []
        for rule in rules {
            if let earlier = effective.first(where: { rule.occasion.implies($0.occasion) }) {
                warn(
                    "the rule never applies: an earlier one answers '\(rule.transition.on)' and asks for no more; move "
                        + "this one up, or remove it",
                    at: rule.place, see: earlier.place)
                continue
            }
            if let rival = effective.first(where: { competes($0, rule, effective) }) {
                warn(
                    "the rule competes with an earlier one for '\(rule.transition.on)': both can hold, and only their "
                        + "order decides; let one exclude the other",
                    at: rule.place, see: rival.place)
            }
            effective.append(rule)
        }
    }

    /// Whether two rules, of which neither is the other's special case, want different things at once.
    private func competes(_ earlier: Rule, _ later: Rule, _ effective: [Rule]) -> Bool {
        guard !earlier.asksTheSame(as: later), !earlier.occasion.implies(later.occasion),
            let both = earlier.occasion.plainOverlap(with: later.occasion)
        else { return false }
        // A rule of its own that stands before them says what is to happen when both hold.
        return !effective.prefix { $0.place != earlier.place }.contains { both.implies($0.occasion) }
    }

    private mutating func reviewSenders() {
        let actions = (flow.placedRules + flow.placedLinks).flatMap(\.transition.possibleActions)
        let sent = Set(senders.keys).union(actions.compactMap(\.command))
        var known = sent
        for (rule, transition) in flow.placedRules where transition.on.hasPrefix("command.") {
            guard known.insert(transition.on).inserted else { continue }
            let nearest = Spelling.nearest(to: transition.on, in: sent)
            let advice = nearest.map { "did you mean '\($0)'?" } ?? "add it to what a screen 'sends'"
            warn("no screen and no button sends '\(transition.on)'; \(advice)", at: "\(rule.place).on")
        }
    }
}
