internal import Navigation
internal import Support

extension FlowReviewer {
    /// Reviews the places of screens that conditions name, and the rules that lead to them.
    mutating func reviewGraph() {
        let reach = FlowReach(of: flow, along: graph.edges)
        reviewReach(reach)
        reviewPlaces()
        reviewActs()
        reviewTraps()
        reviewEndlessChildren()
    }

    private mutating func reviewReach(_ reach: FlowReach) {
        let idle = Set(flow.flows.keys).subtracting(reach.flows)
        for name in idle.sorted() {
            warn(
                .unreached, "no rule that can apply begins child flow '\(name)'; add one, or remove it",
                at: "flows.\(name)")
        }
        let ways = Dictionary(grouping: graph.edges) { $0.to ?? "" }
        for node in graph.nodes where !node.isReached {
            let ways = ways[node.screen] ?? []
            // The finding about the child flow covers its screens.
            let isIdle = ways.allSatisfy { edge in [edge.rule.flow, edge.begins].contains { idle.contains($0 ?? "") } }
            let isOfIdle = !ways.isEmpty || idle.contains { flow.flows[$0]?.start == node.screen }
            if isIdle, isOfIdle { continue }
            warn(
                .unreached,
                "nothing leads to '\(node.screen)'; show it in a rule that can apply, or remove it",
                at: "screens.\(node.screen)")
        }
    }

    private mutating func reviewPlaces() {
        let roots = Set(graph.nodes.filter { canBe($0, in: .root) }.map(\.screen))
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            for (key, conditions) in [("when", transition.when), ("unless", transition.unless)] {
                for (condition, keyPath) in Flow.Condition.placed(conditions, at: "\(rule.keyPath).\(key)") {
                    review(condition, at: keyPath)
                }
            }
            let excluded = transition.unless.filter { $0.scope == .root }.flatMap(\.plainScreens)
            if roots.isSubset(of: excluded) {
                warn(
                    .neverApplies,
                    "the root is always one of these screens, so the rule never applies; remove one of them",
                    at: "\(rule.keyPath).unless.root")
            }
        }
    }

    /// Finds rules on acts of the user that name a screen which the user can never leave in this way.
    private mutating func reviewActs() {
        for (rule, transition) in flow.placedRules {
            guard let act = transition.on.compactMap(Flow.UserAct.init).first, transition.on.count == 1,
                let names = transition.fields["screen"]?.anyOf?.compactMap(\.stringValue), !names.isEmpty
            else { continue }
            let isBack = act == .wentBack
            let screens = names.compactMap { nodes[$0] }.filter { node in
                canBe(node, in: isBack ? .path : .presented)
                    && !(isBack && flow.screensWithoutBack.contains(node.screen))
            }
            guard screens.isEmpty else { continue }
            let (verb, other): (String, Flow.UserAct) =
                isBack ? ("goes back from", .dismissed) : ("dismisses", .wentBack)
            warn(
                .neverApplies,
                "the user never \(verb) '\(names.joined(separator: "' or '"))', so this rule never applies; name another "
                    + "screen, or use '\(other.rawValue)'",
                at: "\(rule.keyPath).where.screen")
        }
    }

    private mutating func review(_ condition: Flow.Condition, at keyPath: String) {
        for (index, screen) in condition.screens.enumerated() {
            guard let node = nodes[screen.screen], node.isReached, !canBe(node, in: condition.scope) else { continue }
            let never =
                switch condition.scope {
                case .root: "is never the root"
                case .path: "is never pushed"
                case .presented: "is never presented"
                case .top: "is only shown in a column, never in front"
                case .shown, .tab, .sender: "is never shown"
                }
            warn(
                .wrongPlace,
                "'\(screen.screen)' \(never); name another screen or place",
                at: "\(keyPath)[\(index)]")
        }
    }

    /// True if the screen can be in a place that a condition examines.
    func canBe(_ node: FlowGraph.Node, in scope: Flow.Condition.Scope) -> Bool {
        switch scope {
        case .root: flow.requests.contains(.setRoot) || node.placements.contains(.root)
        case .path: !flow.requests(anyOf: [.push, .goTo, .replacePath]).isEmpty || node.placements.contains(.path)
        case .presented: flow.requests.contains(.present) || node.placements.contains(where: \.isPresented)
        case .top:
            !flow.requests(anyOf: [.setRoot, .push, .goTo, .replacePath, .present]).isEmpty
                || node.placements.contains { !$0.isColumn }
        case .shown, .tab, .sender: true
        }
    }

    /// Finds roots without a container from which no rule and no deep link leads on, and presentations that the user
    /// cannot dismiss and from which no rule leads on. A root that sends no command is not reported, unless it is the
    /// start screen.
    private mutating func reviewTraps() {
        // An app with only one screen has no other screen to go to.
        guard graph.nodes.count > 1, flow.requests(anyOf: Self.leading).isEmpty else { return }
        let actions = flow.allTransitions.flatMap(\.possibleActions)
        let roots = Set(actions.compactMap(\.plainRoot)).union([flow.start])
        let presented = Set(actions.compactMap { screenPresentedForGood(by: $0) })
        let cannotDismiss = flow.requests(anyOf: [.dismiss, .dismissAll]).isEmpty
        for node in graph.nodes where node.isReached {
            let keyPath = "screens.\(node.screen)"
            let isEnd = node.screen != flow.start && flow.screens[node.screen]?.sends.isEmpty == true
            if roots.contains(node.screen), !isEnd, !flow.links.contains(where: { leads($0, onFrom: node.screen) }),
                !flow.transitions.contains(where: { leads($0, onFromRoot: node.screen) })
            {
                warn(
                    .deadEnd, "the user cannot leave '\(node.screen)': no rule leads on from it as the root; add one",
                    at: keyPath)
            }
            if flow.screensWithoutBack.contains(node.screen), node.placements == [.path],
                !flow.allTransitions.contains(where: { leads($0, onFromPushed: node.screen) })
            {
                warn(
                    .deadEnd,
                    "the user cannot leave '\(node.screen)': it has 'back: false', and no rule leads on; add one",
                    at: keyPath)
            }
            if presented.contains(node.screen), cannotDismiss,
                !flow.allTransitions.contains(where: { leads($0, onFromPresented: node.screen) })
            {
                warn(
                    .deadEnd,
                    "the user cannot leave '\(node.screen)': it cannot be dismissed, and no rule leads on; add one",
                    at: keyPath)
            }
        }
    }

    /// Finds child flows that the user cannot leave and that no rule ends.
    private mutating func reviewEndlessChildren() {
        guard flow.requests(anyOf: Self.leading + Self.ending).isEmpty else { return }
        let actions = (flow.placedRules + flow.placedLinks).flatMap(\.transition.possibleActions)
        let begun = Set(
            actions.compactMap { action in
                if case .presentFlow(let name, arguments: _, as: let style, options: let options) = action,
                    options.isForGood(style)
                {
                    return name
                }
                return nil
            })
        for name in begun.sorted() {
            let rules = flow.transitions + (flow.flows[name]?.transitions ?? [])
            guard
                !rules.contains(where: { $0.possibleActions.contains { Self.ending.contains($0.unconditional.name) } })
            else { continue }
            warn(
                .deadEnd,
                "the user cannot leave child flow '\(name)', and no rule ends it; add 'finish' to one of its rules",
                at: "flows.\(name)")
        }
    }

    private static let ending: [Flow.ActionName] = [.finish, .abandon, .dismiss, .dismissAll, .setRoot]
    private static let leading: [Flow.ActionName] = [.setRoot, .push, .goTo, .replacePath, .present, .selectTab, .show]

    /// The screen that an action presents in such a way that the user cannot dismiss it. Nil if there is none.
    private func screenPresentedForGood(by action: Flow.Action) -> String? {
        switch action {
        case .present(let destination, as: let style, options: let options) where options.isForGood(style):
            destination.screen
        case .presentFlow(let name, arguments: _, as: let style, options: let options) where options.isForGood(style):
            flow.flows[name]?.start
        default: nil
        }
    }

    /// True if the link shows something else than the screen as the root.
    private func leads(_ link: Flow.Link, onFrom screen: String) -> Bool {
        [link.to, link.otherwise].compactMap(\.self).contains {
            $0.root?.destination.screen != screen || !$0.path.isEmpty || $0.present != nil
        }
    }

    private func leads(_ rule: Flow.Transition, onFromRoot screen: String) -> Bool {
        guard rule.triggers.contains(where: { Flow.Ending(rawValue: $0) == nil && canArrive($0, on: screen) }) else {
            return false
        }
        let mayApply = rule.when.allSatisfy { condition in
            switch condition.scope {
            case .root, .top, .shown, .sender: condition.screens.contains { $0.screen == screen }
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        let isForbidden = rule.unless.contains { condition in
            switch condition.scope {
            case .root, .top, .shown, .sender: condition.plainScreens.contains(screen)
            case .path, .presented: condition.screens.isEmpty
            case .tab: false
            }
        }
        return mayApply && !isForbidden
            && rule.possibleActions.contains { action in
                if case .setRoot(let root, container: nil) = action { return root.screen != screen }
                return Self.leading.contains(action.name)
            }
    }

    private func leads(_ rule: Flow.Transition, onFromPresented screen: String) -> Bool {
        let scopes: [Flow.Condition.Scope] = [.top, .shown, .presented]
        return rule.triggers.contains { canArrive($0, on: screen) }
            && scopes.allSatisfy { scope in
                let conditions = rule.when.filter { $0.scope == scope }
                return conditions.isEmpty || conditions.contains { $0.screens.contains { $0.screen == screen } }
            }
            && !rule.unless.contains { scopes.contains($0.scope) && $0.plainScreens.contains(screen) }
            && rule.possibleActions.contains { action in
                (Self.leading + [.dismiss, .dismissAll, .finish, .abandon]).contains(action.name)
            }
    }

    private func leads(_ rule: Flow.Transition, onFromPushed screen: String) -> Bool {
        let scopes: [Flow.Condition.Scope] = [.top, .shown]
        return rule.triggers.contains { canArrive($0, on: screen) }
            && rule.when.allSatisfy { condition in
                !scopes.contains(condition.scope) || condition.screens.contains { $0.screen == screen }
            }
            && !rule.unless.contains { scopes.contains($0.scope) && $0.plainScreens.contains(screen) }
            && rule.possibleActions.contains { action in
                (Self.leading + [.pop, .popToRoot, .dismiss, .dismissAll, .finish, .abandon]).contains(action.name)
            }
    }

    /// True if the message can come while the screen is in front. A command that only other screens send cannot.
    private func canArrive(_ type: String, on screen: String) -> Bool {
        openScreens.contains(screen) || senders[type]?.contains(screen) ?? true
    }
}

extension FlowGraph.Placement {
    var isPresented: Bool { if case .presented = self { true } else { false } }

    var isColumn: Bool { if case .column = self { true } else { false } }
}

extension Flow.Action {
    /// The screen that the action makes a root without a container. Nil if there is none.
    fileprivate var plainRoot: String? {
        if case .setRoot(let root, container: nil) = self { root.screen } else { nil }
    }
}

extension PresentationOptions {
    fileprivate func isForGood(_ style: PresentationStyle) -> Bool {
        !style.isQuestion && (style == .fullScreen || interactiveDismissal == false)
    }
}
