internal import FlowFiles
package import Navigation
internal import Support

/// What a reader who knows flows would say of one: all that is wrong, and all that is surely a mistake.
package struct FlowReview: Hashable, Sendable {
    /// The flow; nil when it cannot be used.
    package let flow: Flow?
    /// Errors, warnings and notes, from the file's beginning to its end.
    package let findings: [FlowFinding]

    /// What makes the flow unusable.
    package var errors: [FlowFinding] { findings.filter { $0.severity == .error } }

    /// What is surely a mistake in a flow that works.
    package var warnings: [FlowFinding] { findings.filter { $0.severity == .warning } }
}

extension Flow {
    /// Reads a flow from YAML, and says everything that is to be said about it.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    ///   - messages: Those that the app has; without it nothing is said about messages that there are not.
    package static func review(yaml: String, file: String, messages: MessageCatalogue? = nil) -> FlowReview {
        var reading = FlowReading(yaml: yaml, file: file)
        let isValid = reading.findings.isEmpty
        // What was left out could not be read: a rule of which half is known looks like any other's twin.
        if reading.isComplete, let flow = reading.flow {
            // A name that is mistyped makes what it means unreachable.
            reading.report(FlowReviewer.problems(of: flow, messages, isWhole: isValid))
        }
        return FlowReview(flow: isValid ? reading.flow : nil, findings: reading.findings)
    }

    /// What is surely a mistake in a flow that was built in Swift, as a team's tests may demand that there is none.
    ///
    /// - Parameter messages: Those that the app has; without it nothing is said about messages that there are not.
    package func review(messages: MessageCatalogue? = nil) -> [FlowFinding] {
        FlowReviewer.problems(of: self, messages).map { FlowFinding(source: "flow \(name)", problem: $0) }
    }

    /// Those of the actions that views may ask for.
    func requests(anyOf names: [ActionName]) -> [ActionName] { requests.filter(names.contains) }
}

/// Finds what is surely a mistake in a flow that can be used.
struct FlowReviewer {
    let flow: Flow
    private let graph: FlowGraph
    /// The screens that send each command.
    let senders: [String: Set<String>]
    private(set) var problems: [FlowChecker.Problem] = []

    /// - Parameter isWhole: Whether all that the flow names is there: else nothing is said about what leads where.
    static func problems(
        of flow: Flow, _ messages: MessageCatalogue?, isWhole: Bool = true
    ) -> [FlowChecker.Problem] {
        var reviewer = FlowReviewer(flow: flow)
        reviewer.reviewRules()
        if let messages { reviewer.review(messages) }
        if isWhole { reviewer.reviewGraph() }
        return reviewer.problems
    }

    private init(flow: Flow) {
        self.flow = flow
        graph = flow.graph
        senders = flow.senders
    }

    mutating func warn(_ message: String, at place: String, see other: String? = nil) {
        problems.append(
            FlowChecker.Problem(place: place, message: message, severity: .warning, other: other))
    }

    mutating func note(_ message: String, at place: String) {
        problems.append(FlowChecker.Problem(place: place, message: message, severity: .note))
    }

    /// Looks at rules beside each other: those of one flow, by the message that they answer.
    private mutating func reviewRules() {
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

    /// Looks at where screens can stand, and what leads to them.
    private mutating func reviewGraph() {
        let reach = FlowReach(of: flow, along: graph.edges)
        reviewReach(reach)
        reviewPlaces()
        reviewTraps()
    }

    private mutating func reviewReach(_ reach: FlowReach) {
        let idle = Set(flow.flows.keys).subtracting(reach.flows)
        for name in idle.sorted() {
            warn("nothing begins flow '\(name)'; push or present it, or remove it", at: "flows.\(name)")
        }
        for node in graph.nodes where !node.isReached {
            let ways = graph.edges.filter { $0.to == node.screen }
            // That the child flow never runs has been said.
            let isIdle = ways.allSatisfy { edge in [edge.rule.flow, edge.begins].contains { idle.contains($0 ?? "") } }
            let isOfIdle = !ways.isEmpty || idle.contains { flow.flows[$0]?.start == node.screen }
            if isIdle, isOfIdle { continue }
            warn(
                "nothing leads to '\(node.screen)'; show it in a rule that can apply, or remove it",
                at: "screens.\(node.screen)")
        }
    }

    private mutating func reviewPlaces() {
        let roots = Set(graph.nodes.filter { stands($0, in: .root) }.map(\.screen))
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            for (key, conditions) in [("when", transition.when), ("unless", transition.unless)] {
                for condition in conditions { review(condition, at: "\(rule.place).\(key)") }
            }
            let excluded = transition.unless.filter { $0.place == .root }.flatMap(\.plainScreens)
            if roots.isSubset(of: excluded) {
                warn("the root is always one of these, so the rule never applies", at: "\(rule.place).unless.root")
            }
        }
    }

    private mutating func review(_ condition: Flow.Condition, at place: String) {
        for (index, screen) in condition.screens.enumerated() {
            guard let node = graph.nodes.first(where: { $0.screen == screen.screen }), node.isReached,
                !stands(node, in: condition.place)
            else { continue }
            let never =
                switch condition.place {
                case .root: "is never the root"
                case .path: "is never pushed"
                case .presented: "is never presented"
                case .top: "is never in front, only in a column"
                case .shown, .tab: "is never shown"
                }
            warn(
                "'\(screen.screen)' \(never); name another screen or place",
                at: "\(place).\(condition.place.rawValue)[\(index)]")
        }
    }

    /// Whether a screen can stand where a condition looks, as far as rules and requests tell.
    private func stands(_ node: FlowGraph.Node, in place: Flow.Condition.Place) -> Bool {
        switch place {
        case .root: flow.requests.contains(.setRoot) || node.places.contains(.root)
        case .path: !flow.requests(anyOf: [.push, .replacePath]).isEmpty || node.places.contains(.path)
        case .presented: flow.requests.contains(.present) || node.places.contains(where: \.isPresented)
        case .top:
            !flow.requests(anyOf: [.setRoot, .push, .replacePath, .present]).isEmpty
                || node.places.contains { !$0.isColumn }
        case .shown, .tab: true
        }
    }

    /// Finds screens that the user cannot leave. From a path a swipe leads back and most presentations can be taken away;
    /// from a root, or what is presented for good, only rules lead on.
    private mutating func reviewTraps() {
        // In an app of one screen there is nowhere else to be.
        guard graph.nodes.count > 1, flow.requests(anyOf: Self.leading).isEmpty else { return }
        for node in graph.nodes where node.isReached {
            let place = "screens.\(node.screen)"
            if isPlainRoot(node.screen), !flow.transitions.contains(where: { leads($0, onFromRoot: node.screen) }) {
                warn("'\(node.screen)' is a trap: no rule leads on when it is the root; add one", at: place)
            }
            if isPresentedForGood(node.screen), flow.requests(anyOf: [.dismiss, .dismissAll]).isEmpty,
                !flow.allTransitions.contains(where: { leads($0, onFromPresented: node.screen) })
            {
                warn(
                    "'\(node.screen)' is a trap: the user cannot dismiss it, and no rule leads on; add one", at: place)
            }
        }
    }

    private static let leading: [Flow.ActionName] = [.setRoot, .push, .replacePath, .present, .selectTab, .show]

    /// Whether it can be a root with nothing beside it.
    private func isPlainRoot(_ screen: String) -> Bool {
        screen == flow.start
            || flow.allTransitions.flatMap(\.possibleActions).contains { action in
                guard case .setRoot(let root, let layout) = action else { return false }
                return root.screen == screen && layout == nil
            }
    }

    private func isPresentedForGood(_ screen: String) -> Bool {
        flow.allTransitions.flatMap(\.possibleActions).contains { action in
            switch action {
            case .present(let destination, let style, let options):
                destination.screen == screen && options.isForGood(style)
            case .presentFlow(let name, _, let style, let options):
                flow.flows[name]?.start == screen && options.isForGood(style)
            default: false
            }
        }
    }

    private func leads(_ rule: Flow.Transition, onFromRoot screen: String) -> Bool {
        guard Flow.Ending(rawValue: rule.on) == nil, isHeard(rule.on, on: screen) else { return false }
        let mayApply = rule.when.allSatisfy { condition in
            switch condition.place {
            case .root, .top, .shown: condition.screens.contains { $0.screen == screen }
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        let isForbidden = rule.unless.contains { condition in
            switch condition.place {
            case .root, .top, .shown: condition.plainScreens.contains(screen)
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        return mayApply && !isForbidden
            && rule.possibleActions.contains { action in
                if case .setRoot(let root, nil) = action { return root.screen != screen }
                return Self.leading.contains(action.name)
            }
    }

    private func leads(_ rule: Flow.Transition, onFromPresented screen: String) -> Bool {
        let places: [Flow.Condition.Place] = [.top, .shown, .presented]
        return isHeard(rule.on, on: screen)
            && rule.when.allSatisfy { condition in
                !places.contains(condition.place) || condition.screens.contains { $0.screen == screen }
            }
            && !rule.unless.contains { places.contains($0.place) && $0.plainScreens.contains(screen) }
            && rule.possibleActions.contains { action in
                (Self.leading + [.dismiss, .dismissAll, .finish, .abandon]).contains(action.name)
            }
    }

    /// Whether a message can come while the screen is in front: a command of other screens cannot.
    private func isHeard(_ type: String, on screen: String) -> Bool {
        senders[type]?.contains(screen) ?? true
    }
}

extension FlowGraph.Place {
    var isPresented: Bool { if case .presented = self { true } else { false } }

    var isColumn: Bool { if case .column = self { true } else { false } }
}

extension PresentationOptions {
    fileprivate func isForGood(_ style: PresentationStyle) -> Bool {
        !style.isQuestion && (style == .fullScreen || interactiveDismissal == false)
    }
}
