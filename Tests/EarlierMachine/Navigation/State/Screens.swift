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
extension RootScreen: Codable {
    private enum CodingKeys: String, CodingKey {
        case container
    }

    /// Decodes the instance and its container, if there is one, from one object.
    public init(from decoder: any Decoder) throws {
        instance = try ScreenInstance(from: decoder)
        container = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Container.self, forKey: .container)
    }

    /// Encodes the instance and its container, if there is one, as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(container, forKey: .container)
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

extension Container: Codable {
    private enum Kind: String, Codable {
        case split
        case tabs
    }

    private enum CodingKeys: String, CodingKey {
        case kind
        case columns
        case tabs
        case selected
    }

    /// Decodes `{kind: split, columns}` or `{kind: tabs, tabs, selected}`.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        switch try object.decode(Kind.self, forKey: .kind) {
        case .split:
            self = .split(columns: try object.decode([String: ScreenStack].self, forKey: .columns))
        case .tabs:
            let tabs = try object.decode([Tab].self, forKey: .tabs)
            let selected = try object.decode(String.self, forKey: .selected)
            guard tabs.contains(where: { $0.name == selected }) else {
                let message = "the selected tab '\(selected)' is not in 'tabs'"
                throw DecodingError.dataCorruptedError(forKey: .selected, in: object, debugDescription: message)
            }
            self = .tabs(tabs, selected: selected)
        }
    }

    /// Encodes the container in the form that `init(from:)` decodes.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .split(let columns):
            try object.encode(Kind.split, forKey: .kind)
            try object.encode(columns, forKey: .columns)
        case .tabs(let tabs, let selected):
            try object.encode(Kind.tabs, forKey: .kind)
            try object.encode(tabs, forKey: .tabs)
            try object.encode(selected, forKey: .selected)
        }
    }
}

extension Container.Tab: Codable {
    private enum CodingKeys: String, CodingKey {
        case name
    }

    /// Decodes the name and the stack from one object.
    public init(from decoder: any Decoder) throws {
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        stack = try ScreenStack(from: decoder)
    }

    /// Encodes the name and the stack as one object.
    public func encode(to encoder: any Encoder) throws {
        try stack.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(name, forKey: .name)
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

extension ScreenStack: Codable {
    private enum CodingKeys: String, CodingKey {
        case path
    }

    /// Decodes the first screen and the path from one object.
    public init(from decoder: any Decoder) throws {
        instance = try ScreenInstance(from: decoder)
        let object = try decoder.container(keyedBy: CodingKeys.self)
        // A column in a snapshot of an older version has no path.
        path = try object.decodeIfPresent([ScreenInstance].self, forKey: .path) ?? []
    }

    /// Encodes the first screen and the path as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(path, forKey: .path)
    }
}

/// A screen instance: one appearance of a screen. If a screen is shown twice, it has two instances.
public struct ScreenInstance: Codable, Hashable, Sendable {
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

    private enum CodingKeys: String, CodingKey {
        case screen
        case id = "instance"
        case arguments
        case run
    }
}
