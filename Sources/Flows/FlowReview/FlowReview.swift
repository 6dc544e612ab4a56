internal import FlowFiles
package import Navigation
internal import Support

/// The review of a flow: its mistakes and its probable mistakes.
package struct FlowReview: Hashable, Sendable {
    /// The flow. Nil if it cannot be used.
    package let flow: Flow?
    /// Errors, warnings and notes, from the file's beginning to its end.
    package let findings: [FlowFinding]

    /// The errors. A flow with errors cannot be used.
    package var errors: [FlowFinding] { findings.filter { $0.severity == .error } }

    /// The probable mistakes. A flow with warnings can be used.
    package var warnings: [FlowFinding] { findings.filter { $0.severity == .warning } }
}

extension Flow {
    /// Reads a flow from YAML and reviews it.
    ///
    /// - Parameters:
    ///   - yaml: The contents of the file.
    ///   - file: The name of the file in findings.
    ///   - messages: The app's messages. Nil to leave out the checks of messages.
    package static func review(yaml: String, file: String, messages: MessageCatalogue? = nil) -> FlowReview {
        var reading = FlowReading(yaml: yaml, file: file)
        let isValid = reading.findings.isEmpty
        // If a part could not be read, the review is skipped: an incomplete rule may look like a duplicate of another
        // one.
        if reading.isComplete, let flow = reading.flow {
            // A mistyped name makes the intended screen or child flow unreachable, so the review leaves out the graph
            // unless the flow is valid.
            reading.report(FlowReviewer.problems(of: flow, messages, isWhole: isValid))
        }
        return FlowReview(flow: isValid ? reading.flow : nil, findings: reading.findings)
    }

    /// Returns the probable mistakes in a flow that was built in Swift. Tests can require that there are none.
    ///
    /// - Parameter messages: The app's messages. Nil to leave out the checks of messages.
    package func review(messages: MessageCatalogue? = nil) -> [FlowFinding] {
        FlowReviewer.problems(of: self, messages).map { FlowFinding(source: "flow \(name)", problem: $0) }
    }

    /// The actions among `names` that views may request.
    func requests(anyOf names: [ActionName]) -> [ActionName] { requests.filter(names.contains) }
}

/// Finds probable mistakes in a flow.
struct FlowReviewer {
    let flow: Flow
    private let graph: FlowGraph
    /// The names of the screens that send each command.
    let senders: [String: Set<String>]
    private(set) var problems: [FlowChecker.Problem] = []

    /// Returns the probable mistakes.
    ///
    /// - Parameter isWhole: True if the flow is valid. Otherwise the graph is not reviewed.
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

    /// Compares the rules that answer the same message, within the flow itself and within each child flow.
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
            warn(
                "no value fulfils all of these conditions, so the rule never applies; correct them",
                at: "\(rule.place).where.\(field)")
        }
        guard let (wanted, unwanted) = rule.occasion.contradiction else { return }
        warn(
            "'unless' excludes what 'when' requires, so the rule never applies; remove one of them",
            at: "\(rule.place).unless.\(unwanted.place.rawValue)",
            see: "\(rule.place).when.\(wanted.place.rawValue)")
    }

    private mutating func reviewOrder(of rules: [Rule]) {
        var effective: [Rule] = []
        for rule in rules {
            if let earlier = effective.first(where: { rule.occasion.implies($0.occasion) }) {
                warn(
                    "the rule never applies: an earlier rule already matches every '\(rule.transition.on)' that this "
                        + "rule matches; move this rule before it, or remove this rule",
                    at: rule.place, see: earlier.place)
                continue
            }
            if let rival = effective.first(where: { competes($0, rule, effective) }) {
                warn(
                    "the rule competes with an earlier one for '\(rule.transition.on)': both can match, and only their "
                        + "order decides; add a condition to one that excludes the other",
                    at: rule.place, see: rival.place)
            }
            effective.append(rule)
        }
    }

    /// True if two rules can apply to the same message with different actions, and neither is a special case of the
    /// other.
    private func competes(_ earlier: Rule, _ later: Rule, _ effective: [Rule]) -> Bool {
        guard !earlier.asksTheSame(as: later), !earlier.occasion.implies(later.occasion),
            let both = earlier.occasion.plainOverlap(with: later.occasion)
        else { return false }
        // If a third rule before `earlier` matches whenever both apply, that rule decides, and the two do not compete.
        return !effective.prefix { $0.place != earlier.place }.contains { both.implies($0.occasion) }
    }

    private mutating func reviewSenders() {
        let actions = (flow.placedRules + flow.placedLinks).flatMap(\.transition.possibleActions)
        let sent = Set(senders.keys).union(actions.compactMap(\.command))
        var known = sent
        for (rule, transition) in flow.placedRules where transition.on.hasPrefix("command.") {
            guard known.insert(transition.on).inserted else { continue }
            let nearest = Spelling.nearest(to: transition.on, in: sent)
            let advice = nearest.map { "did you mean '\($0)'?" } ?? "add it to 'sends' of a screen"
            warn("no screen or button sends '\(transition.on)'; \(advice)", at: "\(rule.place).on")
        }
    }

    /// Reviews the places of screens and the rules that lead to them.
    private mutating func reviewGraph() {
        let reach = FlowReach(of: flow, along: graph.edges)
        reviewReach(reach)
        reviewPlaces()
        reviewTraps()
    }

    private mutating func reviewReach(_ reach: FlowReach) {
        let idle = Set(flow.flows.keys).subtracting(reach.flows)
        for name in idle.sorted() {
            warn("no rule begins child flow '\(name)'; push or present it, or remove it", at: "flows.\(name)")
        }
        for node in graph.nodes where !node.isReached {
            let ways = graph.edges.filter { $0.to == node.screen }
            // The finding about the child flow covers its screens.
            let isIdle = ways.allSatisfy { edge in [edge.rule.flow, edge.begins].contains { idle.contains($0 ?? "") } }
            let isOfIdle = !ways.isEmpty || idle.contains { flow.flows[$0]?.start == node.screen }
            if isIdle, isOfIdle { continue }
            warn(
                "nothing leads to '\(node.screen)'; show it in a rule that can apply, or remove it",
                at: "screens.\(node.screen)")
        }
    }

    private mutating func reviewPlaces() {
        let roots = Set(graph.nodes.filter { canBe($0, in: .root) }.map(\.screen))
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            for (key, conditions) in [("when", transition.when), ("unless", transition.unless)] {
                for condition in conditions { review(condition, at: "\(rule.place).\(key)") }
            }
            let excluded = transition.unless.filter { $0.place == .root }.flatMap(\.plainScreens)
            if roots.isSubset(of: excluded) {
                warn(
                    "the root is always one of these screens, so the rule never applies; remove one of them",
                    at: "\(rule.place).unless.root")
            }
        }
    }

    private mutating func review(_ condition: Flow.Condition, at place: String) {
        for (index, screen) in condition.screens.enumerated() {
            guard let node = graph.nodes.first(where: { $0.screen == screen.screen }), node.isReached,
                !canBe(node, in: condition.place)
            else { continue }
            let never =
                switch condition.place {
                case .root: "is never the root"
                case .path: "is never pushed"
                case .presented: "is never presented"
                case .top: "is only shown in a column, never in front"
                case .shown, .tab, .sender: "is never shown"
                }
            warn(
                "'\(screen.screen)' \(never); name another screen or place",
                at: "\(place).\(condition.place.rawValue)[\(index)]")
        }
    }

    /// True if rules or requests can put the screen in a place that a condition examines.
    private func canBe(_ node: FlowGraph.Node, in place: Flow.Condition.Place) -> Bool {
        switch place {
        case .root: flow.requests.contains(.setRoot) || node.places.contains(.root)
        case .path: !flow.requests(anyOf: [.push, .replacePath]).isEmpty || node.places.contains(.path)
        case .presented: flow.requests.contains(.present) || node.places.contains(where: \.isPresented)
        case .top:
            !flow.requests(anyOf: [.setRoot, .push, .replacePath, .present]).isEmpty
                || node.places.contains { !$0.isColumn }
        case .shown, .tab, .sender: true
        }
    }

    /// Finds screens that the user cannot leave. The user can swipe back from a path and can dismiss most
    /// presentations. From a root, or from a presentation that the user cannot dismiss, only rules lead on.
    private mutating func reviewTraps() {
        // An app with only one screen has no other screen to go to.
        guard graph.nodes.count > 1, flow.requests(anyOf: Self.leading).isEmpty else { return }
        for node in graph.nodes where node.isReached {
            let place = "screens.\(node.screen)"
            if isPlainRoot(node.screen), !flow.transitions.contains(where: { leads($0, onFromRoot: node.screen) }) {
                warn("the user cannot leave '\(node.screen)': no rule leads on from it as the root; add one", at: place)
            }
            if isPresentedForGood(node.screen), flow.requests(anyOf: [.dismiss, .dismissAll]).isEmpty,
                !flow.allTransitions.contains(where: { leads($0, onFromPresented: node.screen) })
            {
                warn(
                    "the user cannot leave '\(node.screen)': it cannot be dismissed, and no rule leads on; add one",
                    at: place)
            }
        }
    }

    private static let leading: [Flow.ActionName] = [.setRoot, .push, .replacePath, .present, .selectTab, .show]

    /// True if the screen can be a root without a container.
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
            case .root, .top, .shown, .sender: condition.screens.contains { $0.screen == screen }
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        let isForbidden = rule.unless.contains { condition in
            switch condition.place {
            case .root, .top, .shown, .sender: condition.plainScreens.contains(screen)
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

    /// True if the message can come while the screen is in front. A command that only other screens send cannot.
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
