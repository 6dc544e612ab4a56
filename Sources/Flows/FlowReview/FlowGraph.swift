internal import FlowFiles
package import Navigation
internal import Support

/// The graph of a flow, derived from its rules and deep links without running it: its screens, and the edges by which
/// messages lead from one screen to another.
///
/// Screens are sorted by name. Edges are in the order of the flow's rules, then of the child flows' rules (child flows
/// are sorted by name), then of the deep links.
package struct FlowGraph: Hashable, Sendable {
    /// The screens, sorted by name.
    package let nodes: [Node]
    /// The edges between the screens.
    package let edges: [Edge]

    /// A screen of the flow.
    package struct Node: Hashable, Sendable {
        package let screen: String
        /// The title that a view may show. Nil if the flow sets none.
        package let title: String?
        /// True if a session begins with this screen.
        package let isStart: Bool
        /// True if the flow does not exclude that the screen is shown; see ``FlowReach``.
        package let isReached: Bool
        /// The ways in which rules and deep links show the screen. The start screen is also shown as the root.
        package let placements: Set<Placement>
    }

    /// The effect of one action of a rule or a deep link, from one of the screens where it may apply.
    package struct Edge: Hashable, Sendable {
        /// The screen where the rule may apply; see ``Flow/origins(of:on:senders:presented:)``. Nil means any screen; for a child
        /// flow's rule, any screen of that flow.
        package let from: String?
        /// The screen that is shown. Nil means the screen beneath the removed screens.
        package let to: String?
        /// The type of the message that the rule answers; for an action of a button, of the command that the button sends,
        /// or else of the report of the answer.
        package let message: String
        /// The title of the button that has the action. Nil if it is not the action of a button.
        package let button: String?
        package let kind: MessageKind
        /// The way in which the screen is shown.
        package let placement: Placement
        /// The kind of the action.
        package let action: Flow.ActionName
        /// The name of the child flow that the action begins. Nil if the action begins no child flow.
        package let begins: String?
        package let rule: Rule
    }

    /// A rule or a deep link of a flow, and the answer to its guard.
    package struct Rule: Hashable, Sendable {
        /// The name of the child flow that has the rule. Nil for the flow itself.
        package let flow: String?
        /// True if it is a deep link. Deep links have edges like rules.
        package var isLink = false
        /// True for the screens that a deep link opens while its conditions do not hold (`otherwise`).
        package var isOtherwise = false
        /// The index among the flow's rules or links, from 0.
        package let index: Int
        /// The answer to the guard. Nil for a rule without a guard, and for a deep link.
        package let answer: Answer?
    }

    /// The outcome of a guard.
    package enum Answer: String, Hashable, Sendable, CaseIterable {
        /// The accepting answer, on which the rule's actions are taken.
        case accepted
        /// The rejecting answer.
        case rejected
        /// No answer within the deadline.
        case expired
    }

    /// The kind of message that a rule answers.
    package enum MessageKind: String, Hashable, Sendable, CaseIterable {
        /// A request of a user or of a program.
        case command
        /// A report of something that has happened, or an act of the user.
        case event
        /// A report of a failure.
        case error
        /// A retained document.
        case document
        /// The end of a child flow. It is not published as a message.
        case flow
    }

    /// The way in which a screen is shown.
    package enum Placement: Hashable, Sendable {
        /// As the root.
        case root
        /// As the first screen of a tab.
        case tab(String)
        /// In a column beside the root.
        case column(String)
        /// On a path.
        case path
        /// As a presentation.
        case presented(PresentationStyle)
        /// In its former place, because the screens above it were removed.
        case before
    }

    init(of flow: Flow) {
        self.init(of: flow, edges: Self.edges(of: flow, limit: .max) ?? [])
    }

    /// The graph of a flow whose size is not trusted: its rules may have an edge from each screen to each screen.
    /// - Returns: Nil if the graph has more than `limit` edges.
    package init?(of flow: Flow, edgeLimit limit: Int) {
        guard let edges = Self.edges(of: flow, limit: limit) else { return nil }
        self.init(of: flow, edges: edges)
    }

    private init(of flow: Flow, edges: [Edge]) {
        let reach = FlowReach(of: flow, along: edges)
        let shown = Dictionary(grouping: edges.filter { $0.placement != .before }) { $0.to }
        self.edges = edges
        nodes = flow.screens.values.sorted { $0.name < $1.name }.map { screen in
            Node(
                screen: screen.name,
                title: screen.title,
                isStart: screen.name == flow.start,
                isReached: reach.screens.contains(screen.name),
                placements: Set(
                    (shown[screen.name] ?? []).map(\.placement) + (screen.name == flow.start ? [.root] : []))
            )
        }
    }

    /// The edges of all rules and deep links. Nil if there are more than `limit`.
    private static func edges(of flow: Flow, limit: Int) -> [Edge]? {
        let (senders, presented, tabs) = (flow.senders, flow.presentedScreens, flow.tabs)
        var handlers: [String: [Flow.Transition]] = [:]
        if flow.links.contains(where: \.isAction) {
            for rule in flow.allTransitions {
                for type in rule.on { handlers[type, default: []].append(rule) }
            }
        }
        let drawsRedirects = flow.comparesRedirects
        var edges: [Edge] = []
        for (rule, transition) in flow.placedRules + flow.placedLinks {
            let link = rule.isLink ? flow.links[rule.index] : nil
            // A link that opens no screens leads to those of the rules on its commands.
            let commands = link?.isAction == true ? Set(link?.sends.map(\.type) ?? []).sorted() : []
            let redirected = drawsRedirects ? link.map { flow.targets(ofRedirect: $0) } ?? [] : []
            let outcomes =
                transition.outcomes + commands.flatMap { handlers[$0] ?? [] }.map { (nil, $0.actions) }
                + redirected.map { (nil, $0.actions) }
            let showings = outcomes.flatMap { answer, actions in
                actions.flatMap(\.buttonActions).flatMap { action, button in
                    flow.showings(by: action, tabs: tabs).map { (answer, action, button, $0) }
                }
            }
            // Most rules of a large flow may show no screen.
            if showings.isEmpty { continue }
            for type in transition.triggers {
                let kind = MessageKind(rawValue: String(type.cut(at: ".")?.before ?? "")) ?? .event
                let origins = flow.origins(of: transition, on: type, senders: senders, presented: presented)
                for (answer, action, button, showing) in showings {
                    let starts = button.map { [$0.screen] } ?? origins
                    if edges.count + starts.count > limit { return nil }
                    edges += starts.map { origin in
                        Edge(
                            from: origin,
                            to: showing.screen,
                            message: button?.message ?? type,
                            button: button?.title,
                            kind: button == nil ? kind : .command,
                            placement: showing.placement,
                            action: action.name,
                            begins: showing.flow,
                            rule: rule.answered(answer)
                        )
                    }
                }
            }
        }
        return edges
    }
}

extension FlowGraph.Rule {
    /// The place of the rule in the flow, such as `transitions[2]` or `links[0]`.
    package var keyPath: String {
        isLink ? Flow.keyPath(ofLink: index) : Flow.keyPath(ofRule: index, in: flow)
    }

    /// The place of the actions that are taken with this answer, as machines tell it: that of the rule, or of a part of
    /// its guard.
    package var actionsKeyPath: String {
        switch answer {
        case .accepted?, nil: keyPath
        case .rejected?: "\(keyPath).\(Flow.Guard.Part.rejected.rawValue)"
        case .expired?: "\(keyPath).\(Flow.Guard.Part.expired.rawValue)"
        }
    }

    /// The rule with this answer to its guard.
    fileprivate func answered(_ answer: FlowGraph.Answer?) -> FlowGraph.Rule {
        FlowGraph.Rule(flow: flow, isLink: isLink, isOtherwise: isOtherwise, index: index, answer: answer)
    }
}

extension Flow {
    /// The graph of the flow's screens and rules.
    package var graph: FlowGraph { FlowGraph(of: self) }

    /// All rules with their places: the flow's own, then those of the child flows, which are sorted by name.
    package var placedRules: [(rule: FlowGraph.Rule, transition: Transition)] {
        let own = transitions.enumerated().map { ($0.offset, nil as String?, $0.element) }
        let others = flows.values.sorted { $0.name < $1.name }.flatMap { child in
            child.transitions.enumerated().map { ($0.offset, Optional(child.name), $0.element) }
        }
        return (own + others).map { (FlowGraph.Rule(flow: $0.1, index: $0.0, answer: nil), $0.2) }
    }

    /// All deep links with their places, each converted to a rule that shows the same screens. The screens that a link
    /// opens while its conditions do not hold are those of a second rule.
    var placedLinks: [(rule: FlowGraph.Rule, transition: Transition)] {
        links.enumerated().flatMap { index, link in
            let rule = FlowGraph.Rule(flow: nil, isLink: true, index: index, answer: nil)
            var otherwise = rule
            otherwise.isOtherwise = true
            let actions = link.sends.map { Action.send(type: $0.type, data: .object($0.data)) }
            return [
                (
                    rule,
                    Transition(
                        on: Machine.deepLinkReceived, when: link.when, unless: link.unless,
                        do: actions + (link.to?.actions ?? []))
                )
            ] + (link.otherwise.map { [(otherwise, Transition(on: Machine.deepLinkReceived, do: $0.actions))] } ?? [])
        }
    }

    /// The screens that an action shows, and the child flow that it begins. A nil screen means the screen beneath the
    /// removed screens. A nil flow means that the action begins no child flow.
    ///
    /// - Parameter tabs: The tabs of all roots, by name; see ``tabs``.
    func showings(
        by action: Action, tabs: [String: [Tab]]
    ) -> [(screen: String?, placement: FlowGraph.Placement, flow: String?)] {
        switch action.unconditional {
        case .setRoot(let root, container: let layout):
            [(root.screen, .root, nil)] + (layout?.tabs ?? []).map { ($0.destination.screen, .tab($0.name), nil) }
        case .push(let destination, on: _), .goTo(let destination): [(destination.screen, .path, nil)]
        case .pushFlow(let name, arguments: _, on: _): [(flows[name]?.start, .path, name)]
        case .replacePath(let path) where !path.isEmpty: path.map { ($0.screen, .path, nil) }
        case .present(let destination, as: let style, options: _): [(destination.screen, .presented(style), nil)]
        case .presentFlow(let name, arguments: _, as: let style, options: _):
            [(flows[name]?.start, .presented(style), name)]
        case .show(let destination, let column): [(destination.screen, .column(column), nil)]
        case .selectTab(let name): (tabs[name] ?? []).map { ($0.destination.screen, .tab(name), nil) }
        case .pop(.to(let screen), column: _): [(screen, .before, nil)]
        case .replacePath, .pop, .back, .popToRoot, .dismiss, .dismissAll, .finish, .abandon: [(nil, .before, nil)]
        case .openURL, .send, .ifPossible, .update: []
        }
    }

    /// The tabs of all roots that rules set, by name, without duplicates.
    var tabs: [String: [Tab]] {
        var known: Set<Tab> = []
        let layouts = allTransitions.flatMap(\.possibleActions).compactMap { action -> Layout? in
            if case .setRoot(_, container: let layout) = action { layout } else { nil }
        }
        return Dictionary(grouping: layouts.flatMap(\.tabs).filter { known.insert($0).inserted }, by: \.name)
    }

    /// The screens where a rule may apply to a message of one of its types, sorted by name. A single nil means any
    /// screen.
    ///
    /// The first of the following that names a screen decides: the condition on the sender; the condition on the screen
    /// in front; the screens that send the message; the child flows whose end the rule handles; the screen that the user
    /// has left; the other conditions.
    /// Screens that `unless` excludes do not count.
    ///
    /// - Parameters:
    ///   - senders: The names of the screens that send each command.
    ///   - presented: The screens that are only shown as presentations; see ``presentedScreens``.
    func origins(
        of transition: Transition, on type: String, senders: [String: Set<String>], presented: Set<String>
    ) -> [String?] {
        let candidates = [
            transition.screens(in: .sender), transition.screens(in: .top), senders[type]?.sorted() ?? [],
            Ending(rawValue: type) == nil ? [] : enders(of: transition),
            UserAct(rawValue: type) == nil ? [] : left(by: transition),
            transition.screens(in: .shown), transition.screens(in: .presented), transition.screens(in: .path),
            transition.screens(in: .root),
        ]
        let excluded = transition.unless.flatMap { condition -> [String] in
            switch condition.scope {
            case .top, .shown: condition.plainScreens
            // A screen of this kind is in front only while it is presented.
            case .presented: condition.plainScreens.filter(presented.contains)
            default: []
            }
        }
        for names in candidates {
            let origins = Set(names).subtracting(excluded)
            if !origins.isEmpty { return origins.sorted() }
        }
        return [nil]
    }

    /// The screens that rules and deep links show as presentations, and in no other way.
    var presentedScreens: Set<String> {
        guard Set(requests).isDisjoint(with: [.setRoot, .push, .goTo, .replacePath, .show]) else { return [] }
        var presented: Set<String> = []
        var others: Set<String> = [start]
        for action in (placedRules + placedLinks).flatMap(\.transition.possibleActions) {
            // A tab is shown by the action that sets its root, too.
            for showing in showings(by: action, tabs: [:]) {
                guard let screen = showing.screen else { continue }
                switch showing.placement {
                case .presented: presented.insert(screen)
                case .before: break
                case .root, .tab, .column, .path: others.insert(screen)
                }
            }
        }
        return presented.subtracting(others)
    }

    /// The names of the screens that send each command, either declared in `sends` or with a button of an alert or a
    /// dialog that a rule or a deep link presents.
    var senders: [String: Set<String>] {
        var senders: [String: Set<String>] = [:]
        for screen in screens.values {
            for type in screen.sends { senders[type, default: []].insert(screen.name) }
        }
        for action in (placedRules + placedLinks).flatMap(\.transition.possibleActions) {
            guard case .present(let destination, as: _, options: let options) = action else { continue }
            for button in options.buttons ?? [] {
                if let type = button.sends { senders[type, default: []].insert(destination.screen) }
            }
        }
        return senders
    }

    /// The screens that a rule on an act of the user names as those that were left.
    private func left(by transition: Transition) -> [String] {
        transition.fields["screen"]?.anyOf?.compactMap(\.stringValue) ?? []
    }

    /// The start screens of the child flows that a rule on the end of a child flow names.
    private func enders(of transition: Transition) -> [String] {
        (transition.fields["flow"]?.anyOf ?? []).compactMap { $0.stringValue.flatMap { flows[$0]?.start } }
    }
}

extension Flow.Link.Target {
    /// The actions that show the same screens if none of them is open yet.
    fileprivate var actions: [Flow.Action] {
        var actions: [Flow.Action] = []
        if let root { actions.append(.setRoot(root.destination, container: root.container)) }
        if let tab { actions.append(.selectTab(tab)) }
        for (name, column) in columns.sorted(by: { $0.key < $1.key }) {
            actions.append(.show(column.first, column: name))
            actions += column.path.map { .push($0, column: name) }
        }
        if !path.isEmpty { actions.append(.replacePath(path)) }
        if let present { actions.append(.present(present.destination, as: present.style, options: present.options)) }
        return actions
    }
}

extension Flow.Action {
    /// The alert or dialog from which a button takes an action, and the type of the message that stands for the button.
    fileprivate typealias Button = (screen: String?, message: String, title: String)

    /// The action, and the actions of the buttons that it presents.
    fileprivate var buttonActions: [(action: Flow.Action, button: Button?)] {
        let action = unconditional
        guard case .present(let question, as: _, options: let options) = action else { return [(action, nil)] }
        return [(action, nil)]
            + (options.buttons ?? []).flatMap { button in
                button.actions.flatMap(\.buttonActions).map { action, inner in
                    (
                        action,
                        inner ?? (question.screen, button.sends ?? ViewReport.alertAnswered.rawValue, button.title)
                    )
                }
            }
    }
}

extension Flow.Transition {
    /// The rule's actions for each outcome of its guard. For a rule without a guard there is one entry, without an
    /// outcome.
    var outcomes: [(answer: FlowGraph.Answer?, actions: [Flow.Action])] {
        guard let condition = `guard` else { return [(nil, actions)] }
        return [(.accepted, actions), (.rejected, condition.rejected), (.expired, condition.expired)]
    }

    /// The screens that send the messages of the rule. Nil if `known` does not name the screens for one of its types, or
    /// if the rule answers no message.
    func senders(among known: [String: Set<String>]) -> Set<String>? {
        if on.isEmpty { return nil }
        var senders: Set<String> = []
        for type in on {
            guard let screens = known[type] else { return nil }
            senders.formUnion(screens)
        }
        return senders
    }

    /// The screens that the rule's `when` lists for a place.
    func screens(in scope: Flow.Condition.Scope) -> [String] {
        when.filter { $0.scope == scope }.flatMap { $0.screens.map(\.screen) }
    }
}

/// The screens that may be shown in a flow, and the child flows that may run.
///
/// Everything that the flow does not exclude is assumed to be possible.
struct FlowReach {
    private(set) var screens: Set<String>
    private(set) var flows: Set<String> = []

    init(of flow: Flow, along edges: [FlowGraph.Edge]) {
        var search = Search()
        var rules: [FlowGraph.Rule: Int] = [:]
        for (index, (rule, transition)) in (flow.placedRules + flow.placedLinks).enumerated() {
            rules[rule] = index
            let conditions = transition.when.filter { $0.scope != .tab && !$0.screens.isEmpty }
            search.add(
                .rule(index),
                after: conditions.map { $0.screens.map { .screen($0.screen) } }
                    + (rule.flow.map { [[.flow($0)]] } ?? [])
            )
        }
        for edge in edges {
            // The rules that handle the commands of a link have edges of their own.
            if edge.rule.isLink, flow.links[edge.rule.index].isAction { continue }
            guard let index = rules[edge.rule.answered(nil)] else { continue }
            let needs = [[.rule(index)]] + (edge.from.map { [[.screen($0)]] } ?? []) as [[Search.Fact]]
            if let screen = edge.to { search.add(.screen(screen), after: needs) }
            if let flow = edge.begins { search.add(.flow(flow), after: needs) }
        }
        for fact in search.certain + [.screen(flow.start)] { search.establish(fact) }
        if !Set(flow.requests).isDisjoint(with: [.setRoot, .push, .goTo, .replacePath, .present, .show]) {
            // With such requests, all screens and child flows count as possible, even if no rule names them.
            for screen in flow.screens.keys { search.establish(.screen(screen)) }
            for flow in flow.flows.keys { search.establish(.flow(flow)) }
        }
        screens = []
        for fact in search.facts {
            switch fact {
            case .screen(let name): screens.insert(name)
            case .flow(let name): flows.insert(name)
            case .rule: break
            }
        }
    }

    /// The facts that follow from other facts. It takes time proportional to the number of needs, also for a flow that
    /// was made to be slow to search.
    private struct Search {
        enum Fact: Hashable {
            case screen(String)
            case flow(String)
            /// The rule at this index may apply, if its edge starts at a screen that may be shown.
            case rule(Int)
        }

        private(set) var facts: Set<Fact> = []
        /// The facts that need nothing.
        private(set) var certain: [Fact] = []
        private var conclusions: [(fact: Fact, missing: Int)] = []
        /// The needs, each with the conclusion that it belongs to.
        private var needs: [(conclusion: Int, isMet: Bool)] = []
        private var needsByFact: [Fact: [Int]] = [:]

        /// Adds a conclusion.
        /// - Parameter alternatives: The needs. One fact of each is enough.
        mutating func add(_ fact: Fact, after alternatives: [[Fact]]) {
            for facts in alternatives {
                for fact in facts { needsByFact[fact, default: []].append(needs.count) }
                needs.append((conclusions.count, false))
            }
            conclusions.append((fact, alternatives.count))
            if alternatives.isEmpty { certain.append(fact) }
        }

        /// Establishes a fact and all facts that follow from it. Conclusions that are added later do not follow.
        mutating func establish(_ fact: Fact) {
            var waiting = [fact]
            while let fact = waiting.popLast() {
                guard facts.insert(fact).inserted else { continue }
                for need in needsByFact[fact] ?? [] where !needs[need].isMet {
                    needs[need].isMet = true
                    let conclusion = needs[need].conclusion
                    conclusions[conclusion].missing -= 1
                    if conclusions[conclusion].missing == 0 { waiting.append(conclusions[conclusion].fact) }
                }
            }
        }
    }
}

extension Flow.Condition {
    /// The screens that the condition names without arguments.
    var plainScreens: [String] { screens.filter(\.arguments.isEmpty).map(\.screen) }
}
