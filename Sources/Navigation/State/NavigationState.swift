internal import Support

/// Which screens an app shows, and how they lie on one another.
///
/// It says what is intended. Views follow it, and report what they display and what their user does.
public struct NavigationState: Hashable, Sendable {
    /// The screen that all others lie on.
    public var root: RootScreen
    /// What has been pushed on the root, the topmost last.
    public var path: [ScreenInstance]
    /// What is presented: the first over the root's stack, each further one over the one before it.
    public var presentations: [Presentation]
    /// Instances that are dismissed, but that the view may still animate out, in the order of their dismissal.
    public var leaving: [ScreenInstance]
    /// The child flows that run, in the order in which they were begun.
    public var runs: [FlowRun]
    /// The guarded rule that waits for its answer; nil when none does.
    public var attempt: PendingGuard?
    /// A deep link that cannot be followed yet.
    public var parked: ParkedLink?

    /// Makes a state.
    public init(
        root: RootScreen,
        path: [ScreenInstance] = [],
        presentations: [Presentation] = [],
        leaving: [ScreenInstance] = [],
        runs: [FlowRun] = [],
        attempt: PendingGuard? = nil,
        parked: ParkedLink? = nil
    ) {
        self.root = root
        self.path = path
        self.presentations = presentations
        self.leaving = leaving
        self.runs = runs
        self.attempt = attempt
        self.parked = parked
    }

    /// Every instance that stands, from the root up. What is leaving no longer stands.
    public var standing: [ScreenInstance] {
        let beside = root.container?.stacks.flatMap(\.instances) ?? []
        return [root.instance] + beside + path + presentations.flatMap(\.instances)
    }

    /// The screen in front of all others.
    public var top: ScreenInstance {
        presentations.last?.top ?? frontPath.last ?? base(of: bottomPlace) ?? root.instance
    }

    /// What can be seen on each layer, from the root's up: also what lies beneath a presentation.
    public var shown: [ScreenInstance] {
        bottomLayer + presentations.map(\.top)
    }

    /// What the user can act on: the topmost presentation's front, or else the root's stack, columns and selected tab.
    public var active: [ScreenInstance] {
        presentations.last.map { [$0.top] } ?? bottomLayer
    }

    /// Whether the instance stands.
    ///
    /// - Parameter id: The instance's identifier.
    /// - Returns: True from its appearance to its dismissal.
    public func isStanding(_ id: String) -> Bool {
        standing.contains { $0.id == id }
    }

    /// A push covers the root, never the columns beside it; a root of tabs is seen around the selected one.
    private var bottomLayer: [ScreenInstance] {
        [path.last ?? root.instance] + (root.container?.shownStacks.map(\.top) ?? [])
    }

    /// Where a path is.
    package enum PathPlace: Hashable, Sendable {
        /// On the root; with tabs nothing is ever pushed there.
        case root
        case column(String)
        case tab(String)
        /// On a presentation, counted from the lowest.
        case presentation(Int)
    }

    /// The path that push and pop work on: the topmost presentation's, else the selected tab's, else the root's.
    public var frontPath: [ScreenInstance] { self[frontPlace] }

    var frontPlace: PathPlace {
        presentations.indices.last.map { .presentation($0) } ?? bottomPlace
    }

    /// Where the path is that presentations lie on: the selected tab's, or else the root's.
    package var bottomPlace: PathPlace {
        root.container?.selectedTab.map { .tab($0) } ?? .root
    }

    /// Where paths are, from the bottom up.
    package var paths: [PathPlace] {
        let beside: [PathPlace] =
            switch root.container {
            case .split(let columns): columns.keys.sorted().map { .column($0) }
            case .tabs(let tabs, _): tabs.map { .tab($0.name) }
            case nil: []
            }
        return [.root] + beside + presentations.indices.map { .presentation($0) }
    }

    /// The path at a place; empty where there is no such place, and then nothing can be set there.
    package subscript(place: PathPlace) -> [ScreenInstance] {
        get {
            switch place {
            case .root: path
            case .column, .tab: stack(at: place)?.path ?? []
            case .presentation(let index): presentations.indices.contains(index) ? presentations[index].path : []
            }
        }
        set {
            switch (place, root.container) {
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

    /// The screen that a path begins above; nil where there is no such place.
    func base(of place: PathPlace) -> ScreenInstance? {
        switch place {
        case .root: root.instance
        case .column, .tab: stack(at: place)?.instance
        case .presentation(let index): presentations.indices.contains(index) ? presentations[index].instance : nil
        }
    }

    private func stack(at place: PathPlace) -> ScreenStack? {
        switch (place, root.container) {
        case (.column(let name), .split(let columns)): columns[name]
        case (.tab(let name), .tabs(let tabs, _)): tabs.first { $0.name == name }?.stack
        default: nil
        }
    }

    /// The run with this identifier.
    func run(_ id: String?) -> FlowRun? {
        runs.first { $0.id == id }
    }

    /// A run and those that it was begun in, the innermost first.
    func lineage(of id: String?) -> [FlowRun] {
        var lineage: [FlowRun] = []
        var next = run(id)
        while let run = next {
            lineage.append(run)
            next = self.run(run.parent)
        }
        return lineage
    }

    /// A run and all that were begun in it, at any depth.
    func family(of id: String) -> Set<String> {
        // Whoever begins a run stands before it in the list.
        runs.reduce(into: [id]) { family, run in
            if let parent = run.parent, family.contains(parent) { family.insert(run.id) }
        }
    }

    /// The most that the arguments of all screens may take, and the texts of alerts with them, in bytes of JSON.
    static let contentLimit = 512 * 1024

    /// Whether it holds too much to be published. One of an older version may, and must not keep its screens for ever: it
    /// may shrink.
    func isTooLarge(from former: NavigationState) -> Bool {
        let size = contentSize
        return size > Self.contentLimit && size > former.contentSize
    }

    /// The bytes that count towards ``contentLimit``. A screen that is leaving counts as well: the snapshot has it.
    var contentSize: Int {
        let arguments = standing.reduce(0) { $0 + $1.argumentSize } + leaving.reduce(0) { $0 + $1.argumentSize }
        return presentations.reduce(arguments) { size, presentation in
            let texts = [presentation.options.title, presentation.options.message].compactMap(\.self)
            return size + texts.reduce(0) { $0 + JSONValue.string($1).description.utf8.count }
        }
    }

    /// What stands in the columns of a split root, by the columns' names.
    var columns: [String: ScreenStack] {
        guard case .split(let columns) = root.container else { return [:] }
        return columns
    }
}

// Every snapshot is one message of the bus, of 4 MiB at most. It holds the screens' arguments, once more in its URL, where a
// byte may take three; the texts of alerts; and what waits for a guard's answer, about 1 MiB at most.

extension ScreenInstance {
    /// The most that the arguments of one screen may take, in bytes of JSON.
    static let argumentLimit = 64 * 1024

    /// The bytes of the arguments as JSON; 0 for none.
    var argumentSize: Int { arguments.isEmpty ? 0 : JSONValue.object(arguments).description.utf8.count }
}

extension NavigationState: Codable {
    private enum CodingKeys: String, CodingKey {
        case root
        case path
        case presented
        case leaving
        case runs
        case attempt
        case parked
    }

    /// Decodes a state; without `runs` no child flow runs. The presentations are nested, each in the one that presents it.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        root = try object.decode(RootScreen.self, forKey: .root)
        path = try object.decode([ScreenInstance].self, forKey: .path)
        leaving = try object.decode([ScreenInstance].self, forKey: .leaving)
        parked = try object.decodeIfPresent(ParkedLink.self, forKey: .parked)
        presentations = try object.decode(PresentationChain?.self, forKey: .presented)?.presentations ?? []
        runs = try object.decodeIfPresent([FlowRun].self, forKey: .runs) ?? []
        attempt = try object.decodeIfPresent(PendingGuard.self, forKey: .attempt)
    }

    /// Encodes the state; `presented` and `parked` are null when there is nothing, `runs` is absent when no child flow
    /// runs, `attempt` when none waits.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(root, forKey: .root)
        try object.encode(path, forKey: .path)
        try object.encode(PresentationChain(presentations[...]), forKey: .presented)
        try object.encode(leaving, forKey: .leaving)
        if !runs.isEmpty { try object.encode(runs, forKey: .runs) }
        try object.encodeIfPresent(attempt, forKey: .attempt)
        try object.encode(parked, forKey: .parked)
    }
}

/// Presentations as JSON nests them. A list is simpler to work on; nesting says who presents whom.
private struct PresentationChain: Codable {
    var presentations: [Presentation]

    init?(_ presentations: ArraySlice<Presentation>) {
        guard !presentations.isEmpty else { return nil }
        self.presentations = Array(presentations)
    }

    private enum CodingKeys: String, CodingKey {
        case presented
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let above = try object.decode(PresentationChain?.self, forKey: .presented)
        presentations = [try Presentation(from: decoder)] + (above?.presentations ?? [])
    }

    func encode(to encoder: any Encoder) throws {
        try presentations.first?.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(PresentationChain(presentations.dropFirst()), forKey: .presented)
    }
}

/// A child flow that has begun and has not ended yet; the same flow may run several times at once.
public struct FlowRun: Codable, Hashable, Sendable {
    /// The identifier that nothing else in the session has had or will have, such as `login-5`.
    public var id: String
    /// The child flow's name.
    public var flow: String
    /// Its first instance: when this is gone, so is the run.
    public var first: String
    /// The run that began it; nil for the flow itself.
    public var parent: String?

    /// Makes a run.
    public init(id: String, flow: String, first: String, parent: String? = nil) {
        self.id = id
        self.flow = flow
        self.first = first
        self.parent = parent
    }

    private enum CodingKeys: String, CodingKey {
        case id = "run"
        case flow
        case first
        case parent
    }
}
