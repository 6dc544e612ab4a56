internal import Contracts
internal import EventBus
internal import Navigation

/// The front path as routes: the path of the topmost presentation, else of the selected tab, else of the root.
///
/// Screens that do not match a route, for example because a rule of the flow pushed them, are left out.
public struct RoutePath<Route: Hashable & Codable & Sendable>: Hashable, Sendable {
    /// A screen on the path.
    public struct Entry: Hashable, Sendable {
        public var route: Route
        /// The identifier of the screen instance, for calls and reports from this screen.
        public var instance: String
    }

    /// The screens on the path. The last one is the topmost.
    public var entries: [Entry]

    init(_ state: NavigationState) {
        entries = state.frontPath.compactMap { screen in
            screen.route(Route.self).map { Entry(route: $0, instance: screen.id) }
        }
    }

    /// The routes of the screens. The last one is the topmost.
    public var routes: [Route] { entries.map(\.route) }
}

/// A sequence of front paths: the current path, then the path after each change. Only one task may read the sequence.
public struct RoutePaths<Route: Hashable & Codable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = RoutePath<Route>
    public typealias Failure = any Error

    let messages: MessageSequence
    let platform: String

    public func makeAsyncIterator() -> Iterator {
        Iterator(messages: messages.makeAsyncIterator(), platform: platform)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private var messages: MessageSequence.Iterator
        private let platform: String
        private var last: RoutePath<Route>?

        init(messages: MessageSequence.Iterator, platform: String) {
            self.messages = messages
            self.platform = platform
        }

        public mutating func next() async throws -> RoutePath<Route>? {
            while let message = try await messages.next() {
                guard message.attributes.key == platform, !message.isTombstone else { continue }
                let path = RoutePath<Route>(try message.decode(Document.NavigationState.self).snapshot.state)
                if path == last { continue }
                last = path
                return path
            }
            return nil
        }
    }
}
