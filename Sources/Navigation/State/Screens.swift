public import Support

/// The screen that all others lie on, and how it is laid out.
public struct RootScreen: Hashable, Sendable {
    /// The screen itself.
    public var instance: ScreenInstance
    /// How the root arranges what stands beside it; nil for a plain stack.
    public var container: Container?

    /// Makes a root.
    public init(_ instance: ScreenInstance, container: Container? = nil) {
        self.instance = instance
        self.container = container
    }
}

// The container is a member beside the instance's own, so that going from a stack to a split never wraps the root.
extension RootScreen: Codable {
    private enum CodingKeys: String, CodingKey {
        case container
    }

    /// Decodes the instance and, where there is one, its container from one object.
    public init(from decoder: any Decoder) throws {
        instance = try ScreenInstance(from: decoder)
        container = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Container.self, forKey: .container)
    }

    /// Encodes the instance and, where there is one, its container as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(container, forKey: .container)
    }
}

/// How a root arranges the stacks beside it.
public enum Container: Hashable, Sendable {
    /// Columns side by side: the root's own stack is the first, each of the others holds one, by the column's name.
    case split(columns: [String: ScreenStack])
    /// Tabs, one at least, of which one is selected. Each holds a stack; the root itself holds but the tabs.
    case tabs([Tab], selected: String)

    /// A tab of a root.
    public struct Tab: Hashable, Sendable {
        /// The tab's name, unique among them.
        public var name: String
        /// What it holds.
        public var stack: ScreenStack

        /// Makes a tab.
        public init(_ name: String, _ stack: ScreenStack) {
            self.name = name
            self.stack = stack
        }
    }

    /// Every stack: of the columns in the order of their names, of the tabs in their own.
    public var stacks: [ScreenStack] {
        switch self {
        case .split(let columns): columns.sorted { $0.key < $1.key }.map(\.value)
        case .tabs(let tabs, _): tabs.map(\.stack)
        }
    }

    /// The stacks that are to be seen: all columns, but of the tabs the selected one alone.
    public var shownStacks: [ScreenStack] {
        switch self {
        case .split: stacks
        case .tabs(let tabs, let selected): tabs.filter { $0.name == selected }.map(\.stack)
        }
    }

    /// The name of the selected tab; nil when there are no tabs.
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
                let message = "there is no tab '\(selected)' to be selected"
                throw DecodingError.dataCorruptedError(forKey: .selected, in: object, debugDescription: message)
            }
            self = .tabs(tabs, selected: selected)
        }
    }

    /// Encodes the container with its kind.
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

/// A screen and what has been pushed on it: what a tab or a column holds.
public struct ScreenStack: Hashable, Sendable {
    /// The screen that the stack begins with.
    public var instance: ScreenInstance
    /// What has been pushed on it, the topmost last.
    public var path: [ScreenInstance]

    /// Makes a stack.
    public init(_ instance: ScreenInstance, path: [ScreenInstance] = []) {
        self.instance = instance
        self.path = path
    }

    /// The screen in front.
    public var top: ScreenInstance { path.last ?? instance }

    /// The first screen and all that has been pushed on it, the topmost last.
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
        // Columns once held one screen each, and such a snapshot may still be stored.
        path = try object.decodeIfPresent([ScreenInstance].self, forKey: .path) ?? []
    }

    /// Encodes the first screen and the path as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(path, forKey: .path)
    }
}

/// One appearance of a screen: shown twice, a screen is two instances.
public struct ScreenInstance: Codable, Hashable, Sendable {
    /// The screen's name in the flow.
    public var screen: String
    /// The identifier that nothing else in the session has had or will have, such as `generatedPlaylist-3`.
    public var id: String
    /// What the screen is about: identifiers, never content.
    public var arguments: [String: JSONValue]
    /// The run of a child flow that it belongs to; nil for the flow itself.
    public var run: String?

    /// Makes an instance.
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
