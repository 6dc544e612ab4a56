internal import Navigation

/// The states that are possible before an action of a rule, as far as the flow determines them.
struct Situation {
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
    /// The number of screens that a rule can pop from the front path.
    var path = ScreenCount.any
    /// The number of screens on the path beneath all presentations.
    private var base = ScreenCount.any
    private var presented = ScreenCount.any
    /// True if an alert or a dialog is certainly in front.
    private var asks = false
    /// The screen in front. Nil if the flow does not determine it.
    private var front: String?

    init(layouts: Layouts) {
        self.layouts = layouts
    }
}

/// The conditions of a rule.
extension Situation {
    /// Excludes the states in which a condition under `when` does not hold, as far as it is about numbers of screens.
    mutating func require(_ condition: Flow.Condition) {
        switch condition.scope {
        // Without screens, the front path and the paths beneath it must be empty.
        case .path where condition.screens.isEmpty: (base, path) = (.none, .none)
        case .presented: presented.restrict(toNone: condition.screens.isEmpty)
        case .root, .top, .path, .shown, .tab, .sender: break
        }
    }

    /// Excludes the states in which a condition under `unless` holds, as far as it is about numbers of screens.
    mutating func exclude(_ condition: Flow.Condition) {
        if condition.scope == .presented, condition.screens.isEmpty { presented.restrict(toNone: false) }
    }

    /// Restricts the states to those with one of these screens in front.
    ///
    /// - Parameters:
    ///   - screens: Empty if any screen can be in front.
    ///   - placements: The ways in which the flow shows the screens.
    ///   - hasPath: True if the front path or a path beneath it is not empty.
    /// - Throws: ``Impossibility`` if no state is left.
    mutating func requireFront(
        _ screens: [String], placements: Set<FlowGraph.Placement>, hasPath: Bool
    ) throws(Impossibility) {
        front = screens.count == 1 ? screens[0] : nil
        if !screens.isEmpty, !placements.isEmpty { requireFront(placements) }
        if presented.most == 0 {
            if hasPath { base.restrict(toNone: false) }
            base.least = max(base.least, path.least)
            path = base
        }
        guard base.isContradiction || presented.isContradiction || path.isContradiction else { return }
        let names = screens.joined(separator: "' or '")
        throw Impossibility(
            message:
                "'\(names)' is in front when this rule applies, and the other conditions exclude this; correct them")
    }

    /// Restricts the states to those with a screen in front that is shown in one of these ways.
    private mutating func requireFront(_ placements: Set<FlowGraph.Placement>) {
        if placements.allSatisfy(\.isFirstOfRoot) {
            presented.restrict(toNone: true)
            base.restrict(toNone: true)
        } else if placements.allSatisfy(\.isPresented) {
            presented.restrict(toNone: false)
            path = .none
            asks = placements.allSatisfy(\.isQuestion)
        } else if placements == [.path] {
            path.restrict(toNone: false)
        }
    }
}

/// The actions of a rule.
extension Situation {
    /// Applies an action.
    ///
    /// - Throws: ``Impossibility`` if the action can be taken in none of the states.
    mutating func apply(_ action: Flow.Action, in flow: Flow) throws(Impossibility) {
        switch action {
        case .setRoot(let root, container: let layout): setRoot(root, layout)
        case .push(let destination, on: let stack): try push(destination.screen, on: stack)
        case .pushFlow(let child, arguments: _, on: let stack): try push(flow.flows[child]?.start, on: stack)
        case .pop(let extent, column: nil): try pop(extent)
        case .pop(_, column: let column?), .show(_, column: let column): try requireColumn(column)
        case .goTo(let destination):
            forgetStacks()
            front = destination.screen
        case .back: forgetStacks()
        case .popToRoot: try replacePath(with: [])
        case .replacePath(let destinations): try replacePath(with: destinations.map(\.screen))
        case .present(let destination, as: let style, options: _): try present(destination.screen, as: style)
        case .presentFlow(let child, arguments: _, as: let style, options: _):
            try present(flow.flows[child]?.start, as: style)
        case .dismiss(let dismissed): try dismiss(dismissed)
        case .dismissAll: dismissAll()
        case .selectTab(let name): try selectTab(name)
        case .ifPossible(let action):
            if case .setRoot = action { layouts = .any }
            forgetStacks()
        case .update(let destination): try requireOpen(destination.screen)
        case .openURL, .send, .finish, .abandon: break
        }
    }

    private mutating func setRoot(_ root: Flow.Destination, _ layout: Flow.Layout?) {
        self = Situation(layouts: .known([layout]))
        (base, presented, path) = (.none, .none, .none)
        front = layout?.tabs.first?.destination.screen ?? root.screen
    }

    private mutating func push(_ screen: String?, on stack: Flow.Stack?) throws(Impossibility) {
        switch stack {
        case .column(let column): return try requireColumn(column)
        case .sender: return forgetStacks()
        case nil: break
        }
        try requireNoQuestion("pushed on")
        setPath(path.adding(1), front: screen)
    }

    private mutating func pop(_ extent: Flow.Extent) throws(Impossibility) {
        switch extent {
        case .sender: forgetStacks()
        case .count(let count):
            if let most = path.most, count > most { throw nothingToPop(count) }
            setPath(path.adding(-count), front: nil)
        case .to(let screen):
            // The screen may be on a path beneath the presentations.
            if path.most == 0, presented.most == 0, let front, front != screen { throw nothingToPop(nil) }
            setPath(.any, front: screen)
        case .from:
            if path.most == 0, presented.most == 0 { throw nothingToPop(nil) }
            setPath(.any, front: nil)
        }
    }

    private mutating func replacePath(with screens: [String]) throws(Impossibility) {
        if !screens.isEmpty { try requireNoQuestion("pushed on") }
        setPath(ScreenCount(least: screens.count, most: screens.count), front: screens.last)
    }

    private mutating func present(_ screen: String?, as style: PresentationStyle) throws(Impossibility) {
        try requireNoQuestion("presented over")
        presented = presented.adding(1)
        path = .none
        (asks, front) = (style.isQuestion, screen)
    }

    private mutating func dismiss(_ dismissed: Flow.Dismissed?) throws(Impossibility) {
        if dismissed == .sender { return forgetStacks() }
        if presented.most == 0 {
            throw Impossibility(message: "nothing is presented here, so nothing can be dismissed; remove this action")
        }
        presented = presented.adding(-1)
        // The presentations above a named screen are dismissed, too.
        if dismissed != nil { presented.least = 0 }
        path = presented.most == 0 ? base : .any
        (asks, front) = (false, nil)
    }

    private mutating func dismissAll() {
        (presented, path) = (.none, base)
        (asks, front) = (false, nil)
    }

    private mutating func selectTab(_ name: String) throws(Impossibility) {
        guard layouts.allow({ layout in layout?.tabs.contains { $0.name == name } ?? false }) else {
            throw Impossibility(
                message: "the root has no tab '\(name)' here; name one of its tabs, or require another root")
        }
        (base, path) = (.any, .any)
        front = nil
    }

    /// Keeps only the root's arrangement: the changes of the action on the front stack are not known.
    private mutating func forgetStacks() {
        self = Situation(layouts: layouts)
    }

    /// Sets the number of screens on the front path. If nothing is presented, this path is the lowest one.
    private mutating func setPath(_ count: ScreenCount, front screen: String?) {
        path = count
        if presented.most == 0 { base = count }
        front = screen
    }

    private func requireOpen(_ screen: String) throws(Impossibility) {
        guard presented.most == 0, base.most == 0, layouts.allow({ $0 != nil }) == false, let front, front != screen
        else {
            return
        }
        throw Impossibility(message: "only '\(front)' is open here, so '\(screen)' cannot be updated; name '\(front)'")
    }

    private func requireColumn(_ column: String) throws(Impossibility) {
        if layouts.allow({ $0 == .split }) { return }
        throw Impossibility(
            message: "the root has no columns here, so none can be '\(column)'; require a root with columns")
    }

    /// - Parameter action: The action in words, such as `pushed on`.
    private func requireNoQuestion(_ action: String) throws(Impossibility) {
        guard asks else { return }
        throw Impossibility(message: "nothing can be \(action) an alert or a dialog; dismiss it before")
    }

    /// - Parameter count: The number of screens to pop. Nil to pop all screens above a named screen.
    private func nothingToPop(_ count: Int?) -> Impossibility {
        guard let most = path.most, most > 0, let count else {
            let state = front.map { "no screen is pushed on '\($0)' here" } ?? "the front path is empty here"
            let advice = presented.least > 0 ? "use 'dismiss'" : "remove this action"
            return Impossibility(message: "nothing can be popped: \(state); \(advice)")
        }
        return Impossibility(
            message: "\(count) screens cannot be popped: the front path has at most \(most) here; pop fewer")
    }
}

/// A number of screens, as far as it is known.
struct ScreenCount {
    var least = 0
    /// Nil if there is no maximum.
    var most: Int?

    static let any = ScreenCount()
    static let none = ScreenCount(most: 0)

    mutating func restrict(toNone isNone: Bool) {
        if isNone { most = 0 } else { least = max(least, 1) }
    }

    func adding(_ count: Int) -> ScreenCount {
        ScreenCount(least: max(0, least + count), most: most.map { max(0, $0 + count) })
    }

    /// True if no number is possible.
    var isContradiction: Bool { most.map { $0 < least } ?? false }
}

/// The reason why a rule never applies or why an action can never be taken, with the remedy.
struct Impossibility: Error {
    let message: String
}

extension FlowGraph.Placement {
    /// True if a screen that is shown in this way has nothing beneath it but its root.
    fileprivate var isFirstOfRoot: Bool {
        switch self {
        case .root, .tab: true
        case .column, .path, .presented, .before: false
        }
    }

    /// True for an alert or a dialog.
    fileprivate var isQuestion: Bool {
        if case .presented(let style) = self { style.isQuestion } else { false }
    }
}
