package import EventBus

/// Waits for the next story, and follows it until it has come to an end.
///
/// It has when nothing was said of it for a while, and no guard waits for an answer to a message of it.
package struct StoryFollower: Sendable {
    private let bus: any EventBus
    private let quiet: Duration

    /// - Parameter quiet: how long nothing may be said before the story counts as ended.
    package init(bus: any EventBus, quiet: Duration) {
        self.bus = bus
        self.quiet = quiet
    }

    /// - Parameters:
    ///   - whenListening: called once no story is missed any more.
    ///   - show: gets the story each time that more of it is known.
    /// - Returns: all of it.
    package func follow(
        whenListening: @escaping @Sendable () async -> Void, _ show: @escaping @Sendable (Story) async throws -> Void
    ) async throws -> Story {
        let ear = Ear()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    await whenListening()
                    for try await message in messages { await ear.take(message) }
                }
                throw BusError(.closed, "the bus was closed")
            }
            group.addTask {
                while await !ear.hasEnded(after: quiet) {
                    if let news = await ear.news() { try await show(news) }
                    try await Task.sleep(for: min(quiet, .milliseconds(50)))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
            guard let story = await ear.story else { throw CancellationError() }
            return story
        }
    }

    private actor Ear {
        private(set) var story: Story?
        private var lastNews = ContinuousClock.now
        private var hasNews = false

        func take(_ message: Envelope) {
            if story == nil, message.beginsStory { story = Story(id: message.id) }
            guard story?.take(message) == true else { return }
            lastNews = .now
            hasNews = true
        }

        /// The story, if there is more of it than at the last call.
        func news() -> Story? {
            defer { hasNews = false }
            return hasNews ? story : nil
        }

        func hasEnded(after quiet: Duration) -> Bool {
            story.map { !$0.isPending && ContinuousClock.now - lastNews >= quiet } ?? false
        }
    }
}
