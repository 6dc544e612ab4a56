extension NavigationState {
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
}
