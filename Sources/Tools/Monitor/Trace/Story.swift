internal import Contracts
package import EventBus
internal import Navigation

/// The messages that one message has led to.
package struct Story: Sendable {
    /// More are counted only: a process that answers itself must not fill the memory.
    private static let limit = 10_000

    /// The id of its first message, which all of it carries as correlation.
    package let id: String
    package private(set) var messages: [TracedMessage] = []
    /// How many more there are.
    package private(set) var dropped = 0
    /// The sessions' platforms on which a guard waits for the answer to a message of this story.
    private var waiting: Set<[String]> = []

    package init(id: String) {
        self.id = id
    }

    /// - Returns: whether it is a message of this story.
    @discardableResult
    package mutating func take(_ message: Envelope) -> Bool {
        noteGuard(message)
        guard message.attributes.correlationID == id else { return false }
        if messages.count < Self.limit {
            messages.append(TracedMessage(message))
        } else {
            dropped += 1
        }
        return true
    }

    /// The W3C traces of its messages: one, unless a stranger began another.
    package var traces: [String] {
        var seen: Set<String> = []
        return messages.compactMap(\.trace).filter { seen.insert($0).inserted }
    }

    package var tree: TraceTree { TraceTree(messages) }

    /// Whether more is to be expected, however long it takes.
    package var isPending: Bool { !waiting.isEmpty }

    private mutating func noteGuard(_ message: Envelope) {
        guard message.type == Document.NavigationState.type, let platform = message.attributes.key else { return }
        let attempt = try? message.decode(Document.NavigationState.self).snapshot.state.attempt
        if let attempt, messages.contains(where: { $0.id == attempt.message.id }) {
            waiting.insert([message.subject, platform])
        } else {
            waiting.remove([message.subject, platform])
        }
    }
}

/// Finds stories in a journal.
package struct StoryFinder: Sendable {
    private let bus: any EventBus
    private let start: MonitorStart

    /// - Parameter start: where to look from.
    package init(bus: any EventBus, start: MonitorStart) {
        self.bus = bus
        self.start = start
    }

    /// What a text may mean.
    package enum Match: Hashable, Sendable {
        case none
        case story(id: String)
        /// Some of the stories that it may mean.
        case several([String])
    }

    /// - Parameter text: the id of a message or a story, or how it begins.
    package func match(_ text: String) async throws -> Match {
        let search = try await read(from: start, into: Search()) { search, message in
            let ids = [message.id, message.attributes.correlationID]
            if ids.contains(text) {
                search = Search(found: message.attributes.correlationID, isExact: true)
            } else if ids.contains(where: { $0.hasPrefix(text) }), !search.candidates.contains(ids[1]) {
                search.candidates.append(ids[1])
            }
            return search.isExact || search.candidates.count > Search.limit
        }
        switch search.candidates.count {
        case 0: return .none
        case 1: return .story(id: search.candidates[0])
        default: return .several(search.candidates)
        }
    }

    /// The story that began last.
    package func last() async throws -> Story? {
        guard start == .beginning else {
            let id = try await read(from: start, into: nil) { (last: inout String?, message) in
                if message.beginsStory { last = message.id }
                return false
            }
            return if let id { try await story(id) } else { nil }
        }
        var (tail, id): (JournalTail, String?) = (JournalTail(of: bus, end: try await bus.publish(Batch([]))), nil)
        while id == nil {
            let isRead = try await tail.readStretch(Envelope.storyBeginnings) { if $0.beginsStory { id = $0.id } }
            guard isRead else { break }
        }
        // What came of a message stands behind it in the journal; a stranger's may stand before it, if not far.
        return if let id { try await story(id, from: .offset(tail.start.offset + 1)) } else { nil }
    }

    package func story(_ id: String) async throws -> Story {
        try await story(id, from: start)
    }

    private func story(_ id: String, from start: MonitorStart) async throws -> Story {
        try await read(from: start, into: Story(id: id)) { story, message in
            story.take(message)
            return false
        }
    }

    private struct Search: Sendable {
        static let limit = 5

        var candidates: [String] = []
        var isExact = false

        init() {}

        init(found: String, isExact: Bool) {
            candidates = [found]
            self.isExact = isExact
        }
    }

    private func read<Result: Sendable>(
        from start: MonitorStart, into result: Result, _ take: (inout Result, Envelope) -> Bool
    ) async throws -> Result {
        let span = try await MonitorSpan(start: start, end: .end, duration: nil, on: bus)
        return try await bus.withSubscription(to: [.all], from: span.start, until: span.end, onNotice: nil) {
            var result = result
            for try await message in $0 where take(&result, message) { break }
            return result
        }
    }
}

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

extension Envelope {
    /// Among these are all messages that ``beginsStory`` is true of.
    static let storyBeginnings = [MessageFilter.kind(.command), .kind(.event)]

    /// Whether a story begins with it: somebody wants something, or something has happened, and no message is the cause.
    ///
    /// What views report of what they show comes of another story, though they do not say of which.
    var beginsStory: Bool {
        guard attributes.causationID == nil, attributes.correlationID == id else { return false }
        let isReport = type == Command.ScreenDisplayed.type || type == Command.ScreenGone.type
        return type.kind == .event || type.kind == .command && !isReport
    }
}
