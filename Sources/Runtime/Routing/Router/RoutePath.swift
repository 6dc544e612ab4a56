internal import Navigation

/// The path in front, as a router's routes: that of the topmost presentation, else of the selected tab, else of the root.
///
/// Screens that no route leads to, which a rule of the flow has put there, are not among them.
public struct RoutePath<Route: Hashable & Codable & Sendable>: Hashable, Sendable {
    /// A screen on the path.
    public struct Entry: Hashable, Sendable {
        public var route: Route
        /// What the screen's reports and calls name.
        public var instance: String
    }

    /// Those on the path, the topmost last.
    public var entries: [Entry]

    init(_ state: NavigationState) {
        entries = state.frontPath.compactMap { screen in
            screen.route(Route.self).map { Entry(route: $0, instance: screen.id) }
        }
    }

    /// The routes, the topmost last.
    public var routes: [Route] { entries.map(\.route) }
}
