internal import FlowFiles
package import Navigation
internal import Support

/// Which screens a flow has, and which messages lead from one to another: what can be known of it without running it.
///
/// Equal flows have equal graphs, in one order: screens by name, edges as their rules stand in the file, those of child
/// flows after the flow's own and by the name of the child flow, deep links at last.
package struct FlowGraph: Hashable, Sendable {
    /// The screens, by name.
    package let nodes: [Node]
    /// The ways between them.
    package let edges: [Edge]

    /// A screen.
    package struct Node: Hashable, Sendable {
        /// The screen's name.
        package let screen: String
        /// What a view may show as its title.
        package let title: String?
        /// Whether a session begins with it.
        package let isStart: Bool
        /// Whether something leads to it, from the screen that a session begins with.
        package let isReached: Bool
        /// How it can be shown.
        package let places: Set<Place>
    }

    /// What one action of a rule does to the screens, from one of the screens where the rule may apply.
    package struct Edge: Hashable, Sendable {
        /// The screen where the rule may apply: the one that it asks for, or that sends its message; nil is anywhere,
        /// of a child flow's rule anywhere in that flow.
        package let from: String?
        /// The screen that is shown; nil is whatever lies beneath.
        package let to: String?
        /// The type of the message.
        package let message: String
        /// What kind of message it is.
        package let kind: MessageKind
        /// How the screen is shown.
        package let place: Place
        /// What the rule does.
        package let action: Flow.ActionName
        /// The child flow of which a run begins.
        package let begins: String?
        /// The rule.
        package let rule: Rule
    }

    /// A rule or deep link of a flow, and what it waited for before it did something.
    package struct Rule: Hashable, Sendable {
        /// The child flow that it is a rule of; nil for the flow itself.
        package let flow: String?
        /// Whether it is one of the flow's deep links, which lead on like rules.
        package var isLink = false
        /// Which of the flow's rules, or links, it is, from 0.
        package let index: Int
        /// What its guard was answered; nil for a rule without one.
        package let answer: Answer?
    }

    /// What comes of a guard.
    package enum Answer: String, Hashable, Sendable, CaseIterable {
        /// The answer that lets the rule's actions happen.
        case accepted
        /// The answer that does not.
        case rejected
        /// No answer within the deadline.
        case expired
    }

    /// What kind of message a rule answers.
    package enum MessageKind: String, Hashable, Sendable, CaseIterable {
        /// What somebody wants.
        case command
        /// What has happened.
        case event
        /// What has failed.
        case error
        /// What is so.
        case document
        /// The end of a child flow, which never leaves the machine.
        case flow
    }

    /// How a screen is shown.
    package enum Place: Hashable, Sendable {
        /// As the root.
        case root
        /// As the first screen of a tab.
        case tab(String)
        /// In a column beside the root.
        case column(String)
        /// On a path.
        case path
        /// Over the others.
        case presented(PresentationStyle)
        /// As it stood before: something above it went.
        case before
    }

    init(of flow: Flow) {
        let senders = flow.senders
        let edges = (flow.placedRules + flow.placedLinks).flatMap { rule, transition in
            Self.edges(of: transition, rule, from: flow.origins(of: transition, senders: senders), in: flow)
        }
        let reach = FlowReach(of: flow, along: edges)
        let shown = Dictionary(grouping: edges.filter { $0.place != .before }) { $0.to }
        self.edges = edges
        nodes = flow.screens.values.sorted { $0.name < $1.name }.map { screen in
            Node(
                screen: screen.name,
                title: screen.title,
                isStart: screen.name == flow.start,
                isReached: reach.screens.contains(screen.name),
                places: Set((shown[screen.name] ?? []).map(\.place) + (screen.name == flow.start ? [.root] : []))
            )
        }
    }

    private static func edges(
        of transition: Flow.Transition, _ rule: Rule, from origins: [String?], in flow: Flow
    ) -> [Edge] {
        let kind = MessageKind(rawValue: String(transition.on.prefix { $0 != "." })) ?? .event
        return transition.outcomes.flatMap { answer, actions in
            actions.flatMap { action in
                flow.showings(by: action).flatMap { showing in
                    origins.map { origin in
                        Edge(
                            from: origin,
                            to: showing.screen,
                            message: transition.on,
                            kind: kind,
                            place: showing.place,
                            action: action.name,
                            begins: showing.flow,
                            rule: Rule(flow: rule.flow, isLink: rule.isLink, index: rule.index, answer: answer)
                        )
                    }
                }
            }
        }
    }
}

extension FlowGraph.Rule {
    /// Where the rule is in the flow, such as `transitions[2]` or `links[0]`.
    package var place: String {
        isLink ? "links[\(index)]" : "\(flow.map { "flows.\($0)." } ?? "")transitions[\(index)]"
    }
}

extension Flow {
    /// Which screens the flow has, and which messages lead from one to another.
    package var graph: FlowGraph { FlowGraph(of: self) }

    /// All rules with where they stand: the flow's own, then those of child flows by the name of the flow.
    var placedRules: [(rule: FlowGraph.Rule, transition: Transition)] {
        let own = transitions.enumerated().map { ($0.offset, nil as String?, $0.element) }
        let others = flows.values.sorted { $0.name < $1.name }.flatMap { child in
            child.transitions.enumerated().map { ($0.offset, Optional(child.name), $0.element) }
        }
        return (own + others).map { (FlowGraph.Rule(flow: $0.1, index: $0.0, answer: nil), $0.2) }
    }

    /// All deep links with where they stand, as the rules that they amount to.
    var placedLinks: [(rule: FlowGraph.Rule, transition: Transition)] {
        links.enumerated().map { index, link in
            (FlowGraph.Rule(flow: nil, isLink: true, index: index, answer: nil), link.transition)
        }
    }

    /// What an action shows, and the child flow that it begins; no screen is whatever lies beneath.
    func showings(by action: Action) -> [(screen: String?, place: FlowGraph.Place, flow: String?)] {
        switch action {
        case .setRoot(let root, let layout):
            [(root.screen, .root, nil)] + (layout?.tabs ?? []).map { ($0.destination.screen, .tab($0.name), nil) }
        case .push(let destination, _): [(destination.screen, .path, nil)]
        case .pushFlow(let name, _, _): [(flows[name]?.start, .path, name)]
        case .replacePath(let path) where !path.isEmpty: path.map { ($0.screen, .path, nil) }
        case .present(let destination, let style, _): [(destination.screen, .presented(style), nil)]
        case .presentFlow(let name, _, let style, _): [(flows[name]?.start, .presented(style), name)]
        case .show(let destination, let column): [(destination.screen, .column(column), nil)]
        case .selectTab(let name): tabs.filter { $0.name == name }.map { ($0.destination.screen, .tab(name), nil) }
        case .pop(.to(let screen), _): [(screen, .before, nil)]
        case .replacePath, .pop, .popToRoot, .dismiss, .dismissAll, .finish, .abandon: [(nil, .before, nil)]
        case .openURL, .send: []
        }
    }

    /// The tabs that roots of the flow may have, each once.
    private var tabs: [Tab] {
        let layouts = allTransitions.flatMap(\.possibleActions).compactMap { action -> Layout? in
            if case .setRoot(_, let layout) = action { layout } else { nil }
        }
        return layouts.flatMap(\.tabs).reduce(into: []) { tabs, tab in
            if !tabs.contains(tab) { tabs.append(tab) }
        }
    }

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

extension Flow.Link {
    /// The rule that it amounts to when it is followed and nothing of it is there yet.
    fileprivate var transition: Flow.Transition {
        var actions: [Flow.Action] = sends.map { .send($0.type, data: .object($0.data)) }
        if let root = to.root { actions.append(.setRoot(root.destination, container: root.container)) }
        if let tab = to.tab { actions.append(.selectTab(tab)) }
        for (name, column) in to.columns.sorted(by: { $0.key < $1.key }) {
            actions.append(.show(column.first, column: name))
            actions += column.path.map { .push($0, column: name) }
        }
        if !to.path.isEmpty { actions.append(.replacePath(to.path)) }
        if let present = to.present {
            actions.append(.present(present.destination, as: present.style, options: present.options))
        }
        return Flow.Transition(on: Machine.deepLinkReceived, when: when, unless: unless, do: actions)
    }
}

extension Flow.Layout {
    /// The tabs; of columns none.
    var tabs: [Flow.Tab] {
        if case .tabs(let tabs) = self { tabs } else { [] }
    }
}

extension Flow.Transition {
    /// What the rule does, by what its guard is answered.
    var outcomes: [(answer: FlowGraph.Answer?, actions: [Flow.Action])] {
        guard let condition = `guard` else { return [(nil, actions)] }
        return [(.accepted, actions), (.rejected, condition.rejected), (.expired, condition.expired)]
    }

    /// The screens of which one must be in a place.
    func screens(in place: Flow.Condition.Place) -> [String] {
        when.filter { $0.place == place }.flatMap { $0.screens.map(\.screen) }
    }
}

/// What can come to be in a flow: which screens are ever shown, and which child flows ever run.
///
/// Wherever it takes knowing more than the rules, such as what a path holds at a time, it is taken to be possible.
struct FlowReach {
    private(set) var screens: Set<String>
    private(set) var flows: Set<String> = []

    init(of flow: Flow, along edges: [FlowGraph.Edge]) {
        screens = [flow.start]
        if !Set(flow.requests).isDisjoint(with: [.setRoot, .push, .replacePath, .present, .show]) {
            // Views name screens and flows that rules need not know of.
            screens = Set(flow.screens.keys)
            flows = Set(flow.flows.keys)
        }
        let placed = (flow.placedRules + flow.placedLinks).map { ($0.rule.place, $0.transition) }
        let transitions = Dictionary(placed, uniquingKeysWith: { first, _ in first })
        var waiting = edges
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for edge in waiting {
                guard let rule = transitions[edge.rule.place], mayApply(rule, edge) else { continue }
                if let screen = edge.to, screens.insert(screen).inserted { isGrowing = true }
                if let flow = edge.begins, flows.insert(flow).inserted { isGrowing = true }
            }
            waiting.removeAll { edge in
                edge.to.map(screens.contains) ?? true && edge.begins.map(flows.contains) ?? true
            }
        }
    }

    private func mayApply(_ rule: Flow.Transition, _ edge: FlowGraph.Edge) -> Bool {
        edge.from.map(screens.contains) ?? true
            && edge.rule.flow.map(flows.contains) ?? true
            && rule.when.allSatisfy { condition in
                condition.place == .tab || condition.screens.isEmpty
                    || condition.screens.contains { screens.contains($0.screen) }
            }
    }
}

extension Flow.Condition {
    /// The screens that it looks for with any arguments.
    var plainScreens: [String] { screens.filter(\.arguments.isEmpty).map(\.screen) }
}
