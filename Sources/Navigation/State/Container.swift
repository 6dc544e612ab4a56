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
