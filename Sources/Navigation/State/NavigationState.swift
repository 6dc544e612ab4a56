package import Support

/// The open screens of an app and their arrangement, together with the leaving screens, the runs of child flows, the
/// waiting attempts (``PendingGuard``) and a parked deep link.
public struct NavigationState: Hashable, Sendable {
    /// The screen beneath all others.
    public var root: RootScreen
    /// The screens pushed on the root; the topmost one is last.
    public var path: [ScreenInstance]
    /// The presentations, from the lowest to the topmost.
    public var presentations: [Presentation]
    /// The instances that the program has dismissed and the view may still be animating out, in the order of their
    /// dismissal.
    public var leaving: [ScreenInstance]
    /// The runs of child flows, in the order in which they began.
    public var runs: [FlowRun]
    /// The rules with a guard that wait for their answers, in the order in which they began to wait.
    public var attempts: [PendingGuard]
    /// The deep link that cannot be followed yet. Nil if there is none.
    public var parked: ParkedLink?
    /// The tabs that were selected before, each once; the latest one is last. Nil if the root does not remember them.
    public var tabHistory: [String]?
    /// The rules with `after` whose conditions hold.
    public var waits: [PendingWait]

    public init(
        root: RootScreen,
        path: [ScreenInstance] = [],
        presentations: [Presentation] = [],
        leaving: [ScreenInstance] = [],
        runs: [FlowRun] = [],
        attempts: [PendingGuard] = [],
        parked: ParkedLink? = nil,
        tabHistory: [String]? = nil,
        waits: [PendingWait] = []
    ) {
        self.root = root
        self.path = path
        self.presentations = presentations
        self.leaving = leaving
        self.runs = runs
        self.attempts = attempts
        self.parked = parked
        self.tabHistory = tabHistory
        self.waits = waits
    }

    /// The attempt that has waited longest. Nil if none waits.
    public var attempt: PendingGuard? { attempts.first }

    /// All open instances, from the root up. A dismissed instance is not open, even if it is still leaving.
    public var open: [ScreenInstance] {
        let beside = root.container?.stacks.flatMap(\.instances) ?? []
        return [root.instance] + beside + path + presentations.flatMap(\.instances)
    }

    /// The screen in front: of the topmost presentation, otherwise of the selected tab, otherwise of the root's stack.
    public var top: ScreenInstance {
        presentations.last?.top ?? frontPath.last ?? base(of: bottomScope) ?? root.instance
    }

    /// The screen that a person looks at: as ``top``, but beside a root with columns that of the last column.
    package var front: ScreenInstance {
        guard presentations.isEmpty, case .split? = root.container else { return top }
        return shown.last ?? top
    }

    /// The topmost screens of the root's stack, of each column, of the selected tab and of each presentation, from the
    /// root up. Screens beneath a presentation are included.
    public var shown: [ScreenInstance] {
        bottom + presentations.map(\.top)
    }

    /// The screens that the user can act on. In each window, this is the front screen of the topmost presentation; in
    /// the main window without presentations, the front screens of the root's stack, columns and selected tab.
    public var active: [ScreenInstance] {
        (presentations(over: bottomScope).isEmpty ? bottom : [])
            + presentations.indices.filter { presentations(over: .presentation($0)).isEmpty }
            .map { presentations[$0].top }
    }

    /// True if an instance with this id is open.
    public func isOpen(_ id: String) -> Bool {
        isOpen { $0.id == id }
    }

    /// The open instance with this id. Nil if there is none.
    func open(_ id: String) -> ScreenInstance? {
        isOpen(id) ? open.first { $0.id == id } : nil
    }

    /// True if an open instance fulfils the condition.
    private func isOpen(where matches: (ScreenInstance) -> Bool) -> Bool {
        matches(root.instance) || path.contains(where: matches)
            || presentations.contains { matches($0.instance) || $0.path.contains(where: matches) }
            || (root.container?.stacks ?? []).contains { matches($0.instance) || $0.path.contains(where: matches) }
    }

    /// True if one of the instances in ``shown`` fulfils the condition.
    func isShown(where matches: (ScreenInstance) -> Bool) -> Bool {
        matches(path.last ?? root.instance) || presentations.contains { matches($0.top) }
            || (root.container?.shownStacks ?? []).contains { matches($0.top) }
    }

    /// The front screens beneath all presentations. A pushed screen covers the root, but not the columns beside it. A
    /// root with tabs is visible around the selected tab.
    package var bottom: [ScreenInstance] {
        [path.last ?? root.instance] + (root.container?.shownStacks.map(\.top) ?? [])
    }

    /// Removes tabs from the history that the root does not have, and all but the latest entry of each tab.
    mutating func keepTabHistory() {
        guard let history = tabHistory else { return }
        var others = Set(root.container?.tabNames ?? []).subtracting([root.container?.selectedTab].compactMap(\.self))
        tabHistory = history.reversed().filter { others.remove($0) != nil }.reversed()
    }

    /// The scope of a path.
    package enum PathScope: Hashable, Sendable {
        /// The root's path. A machine keeps it empty if the root has tabs.
        case root
        case column(String)
        case tab(String)
        /// The path of a presentation, by its index from the lowest.
        case presentation(Int)
    }

    /// The front path: the topmost presentation's, otherwise the selected tab's, otherwise the root's.
    public var frontPath: [ScreenInstance] { self[frontScope] }

    var frontScope: PathScope {
        presentations.indices.last.map { .presentation($0) } ?? bottomScope
    }

    /// The scope of the path beneath all presentations: the selected tab's, or otherwise the root's.
    package var bottomScope: PathScope {
        root.container?.selectedTab.map { .tab($0) } ?? .root
    }

    /// The scopes of all paths, from the bottom up.
    package var paths: [PathScope] {
        let beside: [PathScope] =
            switch root.container {
            case .split(let columns): columns.keys.sorted().map { .column($0) }
            case .tabs(let tabs, _): tabs.map { .tab($0.name) }
            case nil: []
            }
        return [.root] + beside + presentations.indices.map { .presentation($0) }
    }

    /// The path at a scope. If there is no such scope, it is empty and setting it has no effect.
    package subscript(scope: PathScope) -> [ScreenInstance] {
        get {
            switch scope {
            case .root: path
            case .column, .tab: stack(at: scope)?.path ?? []
            case .presentation(let index): presentations.indices.contains(index) ? presentations[index].path : []
            }
        }
        set {
            switch (scope, root.container) {
            case (.root, _): path = newValue
            case (.presentation(let index), _):
                if presentations.indices.contains(index) { presentations[index].path = newValue }
            case (.column(let name), .split(var columns)):
                columns[name]?.path = newValue
                root.container = .split(columns: columns)
            case (.tab(let name), .tabs(var tabs, let selected)):
                guard let index = tabs.firstIndex(where: { $0.name == name }) else { return }
                tabs[index].stack.path = newValue
                root.container = .tabs(tabs, selected: selected)
            case (.column, _), (.tab, _): break
            }
        }
    }

    /// The screen beneath the path at a scope. Nil if there is no such scope.
    func base(of scope: PathScope) -> ScreenInstance? {
        switch scope {
        case .root: root.instance
        case .column, .tab: stack(at: scope)?.instance
        case .presentation(let index): presentations.indices.contains(index) ? presentations[index].instance : nil
        }
    }

    private func stack(at scope: PathScope) -> ScreenStack? {
        switch (scope, root.container) {
        case (.column(let name), .split(let columns)): columns[name]
        case (.tab(let name), .tabs(let tabs, _)): tabs.first { $0.name == name }?.stack
        default: nil
        }
    }

    /// The run with this id. Nil if there is none.
    func run(_ id: String?) -> FlowRun? {
        runs.first { $0.id == id }
    }

    /// A run, followed by the run in which it began, and so on to the outermost run. Empty if there is no run with this
    /// id.
    func lineage(of id: String?) -> [FlowRun] {
        var lineage: [FlowRun] = []
        var next = run(id)
        while let run = next {
            lineage.append(run)
            next = self.run(run.parent)
        }
        return lineage
    }

    /// The ids of a run and of all runs that began in it, at any depth.
    func family(of id: String) -> Set<String> {
        // In the list, a run comes after the run that began it.
        runs.reduce(into: [id]) { family, run in
            if let parent = run.parent, family.contains(parent) { family.insert(run.id) }
        }
    }

    /// The maximum size of the arguments of all open and leaving screens, together with the titles, messages and buttons
    /// of alerts and dialogs, in bytes of JSON. If the state would grow beyond this size, actions are not taken, and a
    /// deep link is discarded.
    static let contentLimit = 512 * 1024

    /// True if the state exceeds ``contentLimit`` and is larger than the former state.
    func isTooLarge(from former: NavigationState) -> Bool {
        // Nearly always the state is far from the limit, which this shows without writing its JSON.
        guard contentSize(\.maximumArgumentSize) > Self.contentLimit else { return false }
        let size = contentSize
        return size > Self.contentLimit && size > former.contentSize
    }

    /// The size that is compared with ``contentLimit``, in bytes. Leaving screens count too.
    private var contentSize: Int { contentSize { $0.argumentSize } }

    /// - Parameter argumentSize: The size of an instance's arguments.
    private func contentSize(_ argumentSize: (ScreenInstance) -> Int) -> Int {
        var size = leaving.reduce(0) { $0 + argumentSize($1) }
        // No instance is the last one.
        _ = isOpen { instance in
            size += argumentSize(instance)
            return false
        }
        return presentations.reduce(size) { $0 + $1.options.contentSize }
    }

    /// Replaces the arguments of the open instance with this id.
    mutating func setArguments(_ arguments: [String: JSONValue], of id: String) {
        updateOpen { if $0.id == id { $0.arguments = arguments } }
    }

    /// Changes each open instance.
    mutating func updateOpen(_ update: (inout ScreenInstance) -> Void) {
        func updateStack(_ stack: inout ScreenStack) {
            update(&stack.instance)
            for index in stack.path.indices { update(&stack.path[index]) }
        }
        update(&root.instance)
        for index in path.indices { update(&path[index]) }
        for index in presentations.indices {
            update(&presentations[index].instance)
            for depth in presentations[index].path.indices { update(&presentations[index].path[depth]) }
        }
        switch root.container {
        case .split(let columns)?:
            let updated = columns.mapValues { stack in
                var stack = stack
                updateStack(&stack)
                return stack
            }
            root.container = .split(columns: updated)
        case .tabs(var tabs, let selected)?:
            for index in tabs.indices { updateStack(&tabs[index].stack) }
            root.container = .tabs(tabs, selected: selected)
        case nil: break
        }
    }

    /// The stacks in the columns of a split root, by the columns' names. Empty for other roots.
    var columns: [String: ScreenStack] {
        guard case .split(let columns) = root.container else { return [:] }
        return columns
    }
}

extension ScreenInstance {
    /// The maximum size of the arguments of one screen, in bytes of JSON. An action that exceeds it fails.
    static let argumentLimit = 64 * 1024

    /// True if the arguments exceed ``argumentLimit``.
    var hasTooLargeArguments: Bool {
        maximumArgumentSize > Self.argumentLimit && argumentSize > Self.argumentLimit
    }

    /// A size that ``argumentSize`` does not exceed.
    fileprivate var maximumArgumentSize: Int { arguments.isEmpty ? 0 : JSONValue.object(arguments).maximumSize }

    /// The size of the arguments as JSON, in bytes; 0 if there are none.
    package var argumentSize: Int { arguments.isEmpty ? 0 : JSONValue.object(arguments).description.utf8.count }
}

extension JSONValue {
    /// A size in bytes that the value's JSON does not exceed.
    fileprivate var maximumSize: Int {
        switch self {
        case .null, .bool, .integer, .number: 32
        // A control character is escaped with six bytes.
        case .string(let text): 6 * text.utf8.count + 2
        case .array(let elements): elements.reduce(2) { $0 + $1.maximumSize + 1 }
        case .object(let members): members.reduce(2) { $0 + 6 * $1.key.utf8.count + $1.value.maximumSize + 4 }
        }
    }
}

extension NavigationState: JSONRecord {
    package static var blank: NavigationState { NavigationState(root: .blank) }

    /// Without a value, `presented` and `parked` are null, while `runs`, `attempt`, `otherAttempts`, `tabHistory` and
    /// `waits` are absent. `attempt` is the attempt that has waited longest, and `otherAttempts` are the later ones; older
    /// versions know only `attempt`. Each presentation is nested in the presentation beneath it.
    package mutating func list(_ fields: inout JSONFields) throws {
        var (attempt, others) = (attempts.first, Array(attempts.dropFirst()))
        var presented = PresentationChain(presentations[...])
        try fields.field("attempt", codable: &attempt)
        try fields.field("leaving", &leaving)
        if attempt != nil { try fields.field("otherAttempts", codableUnlessEmpty: &others) }
        try fields.field("parked", codableOrNull: &parked)
        try fields.field("path", &path)
        try fields.field("presented", orNull: &presented)
        try fields.field("root", &root)
        try fields.field("runs", codableUnlessEmpty: &runs)
        try fields.field("tabHistory", codable: &tabHistory)
        try fields.field("waits", codableUnlessEmpty: &waits)
        guard fields.isReading else { return }
        if let run = Self.misplaced(in: runs) {
            throw fields.corrupted(
                "runs", "run '\(run.id)' is there twice, or does not come after the run in which it began")
        }
        attempts = [attempt].compactMap(\.self) + others
        presentations = presented?.presentations ?? []
        waits = Array(waits.prefix(PendingWait.limit))
        keepTabHistory()
    }

    /// A run with the id of an earlier one, or that began in itself or in a later one. Nil if there is none. Without
    /// such runs, ``lineage(of:)`` ends.
    private static func misplaced(in runs: [FlowRun]) -> FlowRun? {
        let indices = Dictionary(runs.enumerated().map { ($1.id, $0) }) { first, _ in first }
        return runs.enumerated().first { index, run in
            indices[run.id] != index || run.parent.flatMap { indices[$0] }.map { $0 >= index } ?? false
        }?.element
    }
}

/// The presentations in the nested form of the JSON: each contains the presentation over it, which is null if there is
/// none.
private struct PresentationChain: JSONRecord {
    var presentations: [Presentation]

    init?(_ presentations: ArraySlice<Presentation>) {
        guard !presentations.isEmpty else { return nil }
        self.presentations = Array(presentations)
    }

    private init(blank: Presentation) {
        presentations = [blank]
    }

    static var blank: PresentationChain { PresentationChain(blank: Presentation(.sheet, .blank)) }

    mutating func list(_ fields: inout JSONFields) throws {
        var first = presentations[0]
        var above = PresentationChain(presentations.dropFirst())
        try fields.field("arguments", &first.instance.arguments)
        try fields.field("buttons", codable: &first.options.buttons)
        try fields.field("detents", &first.options.detents)
        try fields.field("dragIndicator", &first.options.dragIndicator)
        try fields.field("instance", &first.instance.id)
        try fields.field("interactiveDismissal", &first.options.interactiveDismissal)
        try fields.field("message", &first.options.message)
        try fields.field("path", &first.path)
        try fields.field("presented", orNull: &above)
        try fields.field("run", &first.instance.run)
        try fields.field("screen", &first.instance.screen)
        try fields.field("style", &first.style)
        try fields.field("title", &first.options.title)
        if fields.isReading { presentations = [first] + (above?.presentations ?? []) }
    }
}
