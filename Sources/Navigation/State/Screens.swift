public import Support

/// The screen beneath all others, and its container if it has one.
public struct RootScreen: Hashable, Sendable {
    public var instance: ScreenInstance
    /// The arrangement of the stacks that the root contains. Nil for a plain stack.
    public var container: Container?

    public init(_ instance: ScreenInstance, container: Container? = nil) {
        self.instance = instance
        self.container = container
    }
}

// In JSON, the container is a member of the object that describes the instance.
extension RootScreen: JSONRecord {
    package static var blank: RootScreen { RootScreen(.blank) }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("arguments", &instance.arguments)
        try fields.field("container", &container)
        try fields.field("instance", &instance.id)
        try fields.field("run", &instance.run)
        try fields.field("screen", &instance.screen)
    }
}

/// The arrangement of the stacks that a root contains.
public enum Container: Hashable, Sendable {
    /// Columns side by side. The first one is the root's own stack; the others are in the dictionary, by name.
    case split(columns: [String: ScreenStack])
    /// At least one tab, and the name of the selected tab. Each tab has a stack. The root itself has no path.
    case tabs([Tab], selected: String)

    public struct Tab: Hashable, Sendable {
        /// The name, unique among the tabs of the root.
        public var name: String
        public var stack: ScreenStack

        public init(_ name: String, _ stack: ScreenStack) {
            self.name = name
            self.stack = stack
        }
    }

    /// All stacks: those of columns sorted by name, those of tabs in their order.
    public var stacks: [ScreenStack] {
        switch self {
        case .split(let columns): columns.sorted { $0.key < $1.key }.map(\.value)
        case .tabs(let tabs, _): tabs.map(\.stack)
        }
    }

    /// The visible stacks: those of all columns, or that of the selected tab.
    public var shownStacks: [ScreenStack] {
        switch self {
        case .split: stacks
        case .tabs(let tabs, let selected): tabs.filter { $0.name == selected }.map(\.stack)
        }
    }

    /// The names of the tabs. Empty for columns.
    var tabNames: [String] {
        if case .tabs(let tabs, _) = self { tabs.map(\.name) } else { [] }
    }

    /// The name of the selected tab. Nil if there are no tabs.
    public var selectedTab: String? {
        guard case .tabs(_, let selected) = self else { return nil }
        return selected
    }
}

/// In JSON, `{kind: split, columns}` or `{kind: tabs, tabs, selected}`.
extension Container: JSONRecord {
    private enum Kind: String {
        case split
        case tabs
    }

    package static var blank: Container { .split(columns: [:]) }

    package mutating func list(_ fields: inout JSONFields) throws {
        var kind = if case .tabs = self { Kind.tabs } else { Kind.split }
        // The kind decides which members are read.
        if fields.isReading { try fields.field("kind", &kind) }
        switch kind {
        case .split:
            var columns: [String: ScreenStack] = if case .split(let columns) = self { columns } else { [:] }
            try fields.field("columns", &columns)
            try fields.field("kind", &kind)
            self = .split(columns: columns)
        case .tabs:
            var (tabs, selected): ([Tab], String) =
                if case .tabs(let tabs, let name) = self { (tabs, name) } else { ([], "") }
            try fields.field("kind", &kind)
            try fields.field("selected", &selected)
            try fields.field("tabs", &tabs)
            guard !fields.isReading || tabs.contains(where: { $0.name == selected }) else {
                throw fields.corrupted("selected", "the selected tab '\(selected)' is not in 'tabs'")
            }
            self = .tabs(tabs, selected: selected)
        }
    }
}

/// In JSON, the name is a member of the object that describes the stack.
extension Container.Tab: JSONRecord {
    package static var blank: Container.Tab { Container.Tab("", .blank) }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("arguments", &stack.instance.arguments)
        try fields.field("instance", &stack.instance.id)
        try fields.field("name", &name)
        try fields.field("path", ifPresent: &stack.path)
        try fields.field("run", &stack.instance.run)
        try fields.field("screen", &stack.instance.screen)
    }
}

/// A stack of screens: the content of a tab or a column.
public struct ScreenStack: Hashable, Sendable {
    /// The first screen of the stack.
    public var instance: ScreenInstance
    /// The screens pushed on the first one; the topmost one is last.
    public var path: [ScreenInstance]

    public init(_ instance: ScreenInstance, path: [ScreenInstance] = []) {
        self.instance = instance
        self.path = path
    }

    /// The topmost screen.
    public var top: ScreenInstance { path.last ?? instance }

    /// The first screen and those pushed on it; the topmost one is last.
    public var instances: [ScreenInstance] { [instance] + path }
}

/// In JSON, the path is a member of the object that describes the first screen.
extension ScreenStack: JSONRecord {
    package static var blank: ScreenStack { ScreenStack(.blank) }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("arguments", &instance.arguments)
        try fields.field("instance", &instance.id)
        // A column in a snapshot of an older version has no path.
        try fields.field("path", ifPresent: &path)
        try fields.field("run", &instance.run)
        try fields.field("screen", &instance.screen)
    }
}

/// A screen instance: one appearance of a screen. If a screen is shown twice, it has two instances.
public struct ScreenInstance: Hashable, Sendable {
    /// The name of the screen in the flow.
    public var screen: String
    /// The id, which is unique in the session, such as `generatedPlaylist-3`.
    public var id: String
    /// The arguments of the screen, such as the identifiers of its content.
    public var arguments: [String: JSONValue]
    /// The id of the run of a child flow that it belongs to. Nil if it belongs to the flow itself.
    public var run: String?

    public init(screen: String, id: String, arguments: [String: JSONValue] = [:], run: String? = nil) {
        self.screen = screen
        self.id = id
        self.arguments = arguments
        self.run = run
    }
}

extension ScreenInstance: JSONRecord {
    package static var blank: ScreenInstance { ScreenInstance(screen: "", id: "") }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("arguments", &arguments)
        try fields.field("instance", &id)
        try fields.field("run", &run)
        try fields.field("screen", &screen)
    }
}
