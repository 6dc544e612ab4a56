internal import Contracts
internal import EventBus
internal import Navigation

extension Router {
    /// The path in front as it is now; nil as long as nobody has ever led this platform.
    public var path: RoutePath<Route>? {
        get async throws { try await snapshot().map { RoutePath($0.state) } }
    }

    /// Follows the path in front for as long as `body` runs, from how it is now.
    ///
    ///     try await router.withPaths { paths in
    ///         for try await path in paths { show(path.routes) }
    ///     }
    public func withPaths<Result: Sendable>(
        _ body: (RoutePaths<Route>) async throws -> Result
    ) async throws -> Result {
        try await bus.withSubscription(
            to: [.type(Document.NavigationState.self, subject: session)], from: .retained
        ) { messages in
            try await body(RoutePaths(messages: messages, platform: platform))
        }
    }
}
