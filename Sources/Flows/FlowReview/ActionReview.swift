internal import Navigation

extension FlowReviewer {
    /// Follows the actions of each rule from the states in which the rule can apply. Reports rules for which there is
    /// no such state, and actions that can be taken in none of these states.
    mutating func reviewActions(_ sentElsewhere: Set<String>) {
        // Flows with requests or with windows are not reviewed.
        guard flow.requests.isEmpty, !graph.nodes.contains(where: { $0.placements.contains(.presented(.window)) })
        else {
            return
        }
        let senders = screenSenders(sentElsewhere)
        let situations = Situations(
            of: flow, nodes, graph, soleSenders: soleSenders(among: senders), rootSenders: rootSenders(among: senders))
        for (rule, transition) in flow.placedRules {
            let start: Situation
            do {
                start = try situations.start(of: transition, in: rule.flow)
            } catch {
                warn(.neverApplies, error.message, at: "\(rule.keyPath).when")
                continue
            }
            follow(transition.actions, from: start, at: "\(rule.keyPath).do")
            // `rejected` and `expired` are taken without another check of the conditions.
            guard let condition = transition.guard else { continue }
            follow(condition.rejected, from: situations.unknown, at: "\(rule.keyPath).guard.rejected")
            follow(condition.expired, from: situations.unknown, at: "\(rule.keyPath).guard.expired")
        }
    }

    private mutating func follow(_ actions: [Flow.Action], from start: Situation, at keyPath: String) {
        var situation = start
        for (index, action) in actions.enumerated() {
            if case .dismiss(.screen(let screen)) = action, let node = nodes[screen], !canBe(node, in: .presented) {
                warn(
                    .impossibleAction, "'\(screen)' is never presented, so it cannot be dismissed; use 'pop'",
                    at: "\(keyPath)[\(index)]")
                return
            }
            do {
                try situation.apply(action, in: flow)
            } catch {
                warn(.impossibleAction, error.message, at: "\(keyPath)[\(index)]")
                return
            }
        }
    }

    /// For each command that only screens send, the names of these screens and of those that may send any command.
    private func screenSenders(_ sentElsewhere: Set<String>) -> [String: Set<String>] {
        var screens: [String: Set<String>] = [:]
        for screen in flow.screens.values {
            for type in screen.sends { screens[type, default: []].insert(screen.name) }
        }
        // Rules, links and buttons send commands while any screen is in front.
        let actions = flow.allTransitions.flatMap(\.possibleActions).compactMap(\.command)
        let others = sentElsewhere.union(actions).union(flow.links.flatMap(\.sends).map(\.type))
        return screens.filter { type, screens in !others.contains(type) && senders[type] == screens }
            .mapValues { $0.union(openScreens) }
    }

    /// The commands that are sent only by screens that are always the root, with these screens.
    private func rootSenders(among senders: [String: Set<String>]) -> [String: Set<String>] {
        senders.filter { $0.value.allSatisfy { nodes[$0]?.placements == [.root] } }
    }

    /// The commands that screens send only while they are in front, with these screens.
    private func soleSenders(among senders: [String: Set<String>]) -> [String: Set<String>] {
        // A screen in a column, and a root around its tabs or columns, can send while another screen is in front.
        guard !graph.nodes.contains(where: { $0.placements.contains { $0.isBeside } }) else { return [:] }
        let containers = flow.layouts.filter { $0.value.contains { $0 != nil } }.keys
        return senders.filter { !containers.contains(where: $0.value.contains) }
    }
}

/// The states in which the rules of a flow can apply.
private struct Situations {
    private let flow: Flow
    private let nodes: [String: FlowGraph.Node]
    private let soleSenders: [String: Set<String>]
    private let rootSenders: [String: Set<String>]
    private let layouts: [String: [Flow.Layout?]]
    /// The screens that are shown only as the first screens of child flows.
    private let starts: Set<String>
    /// Any state of the flow.
    let unknown: Situation

    init(
        of flow: Flow, _ nodes: [String: FlowGraph.Node], _ graph: FlowGraph, soleSenders: [String: Set<String>],
        rootSenders: [String: Set<String>]
    ) {
        self.flow = flow
        self.nodes = nodes
        self.soleSenders = soleSenders
        self.rootSenders = rootSenders
        layouts = flow.layouts
        unknown = Situation(layouts: .known(layouts.values.flatMap(\.self)))
        let others = graph.edges.filter { $0.begins == nil }.compactMap(\.to)
        starts = Set(flow.flows.values.map(\.start)).subtracting(others + [flow.start])
    }

    /// The states in which a rule can apply.
    ///
    /// - Parameter child: The name of the child flow that has the rule. Nil for the flow itself.
    /// - Throws: ``Impossibility`` if there is none.
    func start(of rule: Flow.Transition, in child: String?) throws(Impossibility) -> Situation {
        var situation = unknown
        let required = rule.screens(in: .root)
        if let senders = rootSenders[rule.on], !required.isEmpty, senders.isDisjoint(with: required) {
            throw Impossibility(
                "only '\(senders.sorted().joined(separator: "' or '"))' sends '\(rule.on)', which is always the root, and "
                    + "'root' requires another screen; correct 'root', or 'sends' of that screen")
        }
        let roots = required.flatMap { layouts[$0] ?? [] }
        if !roots.isEmpty { situation.layouts = .known(roots) }
        for condition in rule.when {
            switch condition.scope {
            // Without screens, the front path and the paths beneath it must be empty.
            case .path where condition.screens.isEmpty: (situation.base, situation.path) = (.none, .none)
            case .presented: situation.presented.restrict(toNone: condition.screens.isEmpty)
            case .root, .top, .path, .shown, .tab, .sender: break
            }
        }
        for condition in rule.unless where condition.screens.isEmpty {
            switch condition.scope {
            case .presented: situation.presented.restrict(toNone: false)
            case .root, .top, .path, .shown, .tab, .sender: break
            }
        }
        let front = try front(of: rule)
        if let child {
            // The rules of a child flow work on the stack of their run, which need not be in front.
            situation = unknown
            // They cannot pop their own first screen.
            if let start = flow.flows[child]?.start, front == [start], starts.contains(start) { situation.path = .none }
            return situation
        }
        try situation.place(
            front, at: Set(front.flatMap { nodes[$0]?.placements ?? [] }), needsPath: !rule.screens(in: .path).isEmpty)
        return situation
    }

    /// The screens of which one is in front when the rule applies. Empty if the flow does not determine them.
    private func front(of rule: Flow.Transition) throws(Impossibility) -> [String] {
        let required = rule.screens(in: .top)
        guard let senders = soleSenders[rule.on] else { return required }
        let front = required.isEmpty ? senders.sorted() : required.filter(senders.contains)
        let excluded = Set(rule.unless.filter { $0.scope == .top }.flatMap(\.plainScreens))
        guard excluded.isSuperset(of: front) else { return front }
        let names = senders.sorted().joined(separator: "' or '")
        throw Impossibility(
            "only '\(names)' sends '\(rule.on)', and the conditions require another screen in front; correct the "
                + "conditions, or 'sends' of that screen")
    }
}

/// The reason why a rule never applies or why an action can never be taken, with the remedy.
private struct Impossibility: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// The states that are possible before an action of a rule, as far as the flow determines them.
private struct Situation {
    /// A number of screens.
    struct Count {
        var least = 0
        /// Nil if there is no maximum.
        var most: Int?

        static let any = Count()
        static let none = Count(most: 0)

        mutating func restrict(toNone isNone: Bool) {
            if isNone { most = 0 } else { least = max(least, 1) }
        }

        mutating func add(_ count: Int) {
            least = max(0, least + count)
            most = most.map { max(0, $0 + count) }
        }

        var isContradiction: Bool { most.map { $0 < least } ?? false }
    }

    /// The possible arrangements of the root.
    enum Layouts {
        case any
        case known([Flow.Layout?])

        func allow(_ isPossible: (Flow.Layout?) -> Bool) -> Bool {
            switch self {
            case .any: true
            case .known(let layouts): layouts.contains(where: isPossible)
            }
        }
    }

    var layouts: Layouts
    /// The number of screens on the path beneath all presentations.
    var base = Count.any
    var presented = Count.any
    /// The number of screens that a rule can pop from the front path.
    var path = Count.any
    /// True if an alert or a dialog is certainly in front.
    private var asks = false
    /// The screen in front. Nil if the flow does not determine it.
    private var front: String?

    init(layouts: Layouts) {
        self.layouts = layouts
    }

    /// Restricts the states to those with one of these screens in front.
    ///
    /// - Parameters:
    ///   - places: The ways in which the screens can be shown.
    ///   - needsPath: True if the front path or a path beneath it is not empty.
    mutating func place(
        _ screens: [String], at places: Set<FlowGraph.Placement>, needsPath: Bool
    ) throws(Impossibility) {
        front = screens.count == 1 ? screens[0] : nil
        if !screens.isEmpty, !places.isEmpty {
            if places.allSatisfy(\.isFirstOfRoot) {
                presented.restrict(toNone: true)
                base.restrict(toNone: true)
            } else if places.allSatisfy(\.isPresented) {
                presented.restrict(toNone: false)
                path = .none
                asks = places.allSatisfy { if case .presented(let style) = $0 { style.isQuestion } else { false } }
            } else if places == [.path] {
                path.restrict(toNone: false)
            }
        }
        if presented.most == 0 {
            if needsPath { base.restrict(toNone: false) }
            base.least = max(base.least, path.least)
            path = base
        }
        guard base.isContradiction || presented.isContradiction || path.isContradiction else { return }
        let names = screens.joined(separator: "' or '")
        throw Impossibility(
            "'\(names)' is in front when this rule applies, and the other conditions exclude this; correct them")
    }

    /// Applies an action.
    mutating func apply(_ action: Flow.Action, in flow: Flow) throws(Impossibility) {
        switch action {
        case .setRoot(let root, let layout):
            self = Situation(layouts: .known([layout]))
            (base, presented, path) = (.none, .none, .none)
            front = layout?.tabs.first?.destination.screen ?? root.screen
        case .push(let destination, on: nil): try push(destination.screen)
        case .pushFlow(let name, _, on: nil): try push(flow.flows[name]?.start)
        case .push(_, on: .column(let column)), .pushFlow(_, _, on: .column(let column)), .pop(_, let column?),
            .show(_, let column):
            try requireColumns(column)
        case .push(_, on: .sender), .pushFlow(_, _, on: .sender), .pop(.sender, column: nil), .dismiss(.sender):
            // The stack of the sender need not be the front one.
            self = Situation(layouts: layouts)
        case .pop(.count(let count), column: nil):
            if let most = path.most, count > most { throw nothingToPop(count) }
            path.add(-count)
            if presented.most == 0 { base = path }
            front = nil
        case .pop(.to(let screen), column: nil):
            // The screen may be on a path beneath the presentations.
            if path.most == 0, presented.most == 0, let front, front != screen { throw nothingToPop(nil) }
            path = .any
            if presented.most == 0 { base = .any }
            front = screen
        case .popToRoot: try replacePath([])
        case .replacePath(let path): try replacePath(path.map(\.screen))
        case .present(let destination, let style, _): try present(destination.screen, style)
        case .presentFlow(let name, _, let style, _): try present(flow.flows[name]?.start, style)
        case .dismiss:
            if presented.most == 0 {
                throw Impossibility("nothing is presented here, so nothing can be dismissed; remove this action")
            }
            presented.add(-1)
            if case .dismiss(.screen) = action { presented.least = 0 }
            path = presented.most == 0 ? base : .any
            (asks, front) = (false, nil)
        case .dismissAll:
            presented = .none
            path = base
            (asks, front) = (false, nil)
        case .selectTab(let name):
            guard layouts.allow({ layout in layout?.tabs.contains { $0.name == name } ?? false }) else {
                throw Impossibility("the root has no tab '\(name)' here; name one of its tabs, or require another root")
            }
            base = .any
            path = .any
            front = nil
        case .openURL, .send, .finish, .abandon: break
        }
    }

    private mutating func push(_ screen: String?) throws(Impossibility) {
        if asks { throw Impossibility("nothing can be pushed on an alert or a dialog; dismiss it before") }
        path.add(1)
        if presented.most == 0 { base = path }
        front = screen
    }

    private mutating func replacePath(_ screens: [String]) throws(Impossibility) {
        if asks, !screens.isEmpty {
            throw Impossibility("nothing can be pushed on an alert or a dialog; dismiss it before")
        }
        path = Count(least: screens.count, most: screens.count)
        if presented.most == 0 { base = path }
        front = screens.last
    }

    private mutating func present(_ screen: String?, _ style: PresentationStyle) throws(Impossibility) {
        if asks { throw Impossibility("nothing can be presented over an alert or a dialog; dismiss it before") }
        presented.add(1)
        path = .none
        (asks, front) = (style.isQuestion, screen)
    }

    private func requireColumns(_ column: String) throws(Impossibility) {
        if layouts.allow({ $0 == .split }) { return }
        throw Impossibility("the root has no columns here, so none can be '\(column)'; require a root with columns")
    }

    private func nothingToPop(_ count: Int?) -> Impossibility {
        guard let most = path.most, most > 0, let count else {
            let state = front.map { "no screen is pushed on '\($0)' here" } ?? "the front path is empty here"
            let advice = presented.least > 0 ? "use 'dismiss'" : "remove this action"
            return Impossibility("nothing can be popped: \(state); \(advice)")
        }
        return Impossibility("\(count) screens cannot be popped: the front path has at most \(most) here; pop fewer")
    }
}

extension Flow {
    /// The arrangements of each root, by its screen.
    fileprivate var layouts: [String: [Flow.Layout?]] {
        var layouts: [String: [Flow.Layout?]] = [start: [nil]]
        for action in (placedRules + placedLinks).flatMap(\.transition.possibleActions) {
            if case .setRoot(let root, let layout) = action { layouts[root.screen, default: []].append(layout) }
        }
        return layouts
    }
}

extension FlowGraph.Placement {
    /// True if a screen in this place can be beside the screen in front.
    fileprivate var isBeside: Bool {
        switch self {
        case .column: true
        default: false
        }
    }

    /// True if a screen in this place has nothing beneath it but its root.
    fileprivate var isFirstOfRoot: Bool {
        switch self {
        case .root, .tab: true
        default: false
        }
    }
}
