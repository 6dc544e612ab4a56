internal import Contracts
package import EventBus
internal import Navigation
internal import Support

/// A message and the messages that it has led to: all have the same correlation id.
package struct Story: Sendable {
    /// The maximum number of messages that are kept. Further messages are only counted.
    private static let limit = 10_000

    /// The id of the first message, which is the correlation id of all messages.
    package let id: String
    package private(set) var messages: [TracedMessage] = []
    private var complete: [Happening] = []
    private var maker: Happenings
    /// The number of messages that are not kept.
    package private(set) var dropped = 0
    /// The pairs of a session and a platform with a guard that waits for the answer to a message of this story.
    private var waiting: Set<[String]> = []

    /// - Parameter state: Has learnt the state before the story.
    package init(id: String, after state: Happenings = Happenings()) {
        self.id = id
        maker = state
    }

    /// Adds a message if it belongs to this story.
    /// - Returns: True if the message belongs to this story.
    @discardableResult
    package mutating func add(_ message: Envelope) -> Bool {
        recordGuard(message)
        guard message.attributes.correlationID == id else {
            if message.kind == .document { maker.learn(message) }
            return false
        }
        if messages.count < Self.limit {
            messages.append(TracedMessage(message))
            if let happening = maker.handle(message) { complete.append(happening) }
        } else {
            dropped += 1
        }
        return true
    }

    /// The messages as what happened, for a person.
    package var happenings: [Happening] { complete + [maker.pending].compactMap(\.self) }

    /// The ids of the messages' W3C traces, without duplicates.
    package var traces: [String] {
        var seen: Set<String> = []
        return messages.compactMap(\.trace).filter { seen.insert($0).inserted }
    }

    package var tree: TraceTree { TraceTree(messages) }

    /// True if a guard waits for an answer to a message of this story.
    package var isPending: Bool { !waiting.isEmpty }

    private mutating func recordGuard(_ message: Envelope) {
        guard message.type == Document.NavigationState.type, let platform = message.attributes.key else { return }
        let attempts = try? message.decode(Document.NavigationState.self).snapshot.state.attempts
        let asked = Set((attempts ?? []).map(\.message.id))
        if !asked.isEmpty, messages.contains(where: { asked.contains($0.id) }) {
            waiting.insert([message.subject, platform])
        } else {
            waiting.remove([message.subject, platform])
        }
    }
}

/// Finds stories in a journal.
package struct StoryFinder: Sendable {
    private let bus: EventBus
    private let start: MonitorStart?

    /// - Parameter start: The first message to search. Nil to search the whole journal for an id, and the end of the
    ///   journal for the newest story.
    package init(bus: EventBus, start: MonitorStart? = nil) {
        self.bus = bus
        self.start = start
    }

    /// The result of a search for a story by an id.
    package enum Match: Hashable, Sendable {
        case none
        case story(id: String)
        /// The ids of several matching stories, but not necessarily of all.
        case several([String])
    }

    /// Searches for a story.
    /// - Parameter text: The id of a message or a story, or the beginning or the end of such an id.
    package func match(_ text: String) async throws -> Match {
        let search = try await read(from: start ?? .beginning, into: Search()) { search, message in
            let ids = [message.id, message.attributes.correlationID]
            if ids.contains(text) {
                search = Search(found: message.attributes.correlationID, isExact: true)
            } else if ids.contains(where: { $0.begins(with: text) || $0.ends(with: text) }),
                !search.candidates.contains(ids[1])
            {
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

    /// About the number of messages at the end of the journal after which ``last()`` gives up: a whole number of
    /// stretches of ``JournalTail``.
    private static let reach = 256 + 512 + 1024 + 2048 + 4096 + 8192 + 16384 + 32768

    /// The number of messages before a story from which its state before is learnt.
    private static let before = 256

    /// The newest story, as far as it was searched for.
    package struct Newest: Sendable {
        /// The story that a person began last. If no person began one, the story that a service began last. Nil if
        /// there is none.
        package let story: Story?
        /// True if a person began the story.
        package let isOfPerson: Bool
        /// The first offset that was searched, if the search for a story that a person began was given up there.
        /// Otherwise nil.
        package let givenUpAt: UInt64?
    }

    /// Searches for the newest story. Without a start, the journal is read backwards, and the search is given up after
    /// about 65,000 messages.
    package func last() async throws -> Newest {
        if let start {
            let last = try await read(from: start, into: LastBeginning()) { last, message in
                last.record(message)
                return false
            }
            let story: Story? = if let id = last.id { try await story(id) } else { nil }
            return Newest(story: story, isOfPerson: last.byPerson != nil, givenUpAt: nil)
        }
        let end = try await bus.inspect.end()
        var tail = JournalTail(of: bus, end: end)
        // The stories with the stretches in which they begin.
        var byPerson: (id: String, stretch: Position)?
        var byService: (id: String, stretch: Position)?
        while byPerson == nil, tail.searched < Self.reach {
            var stretch = LastBeginning()
            guard try await tail.readStretch(Envelope.storyBeginnings, { stretch.record($0) }) else { break }
            byPerson = stretch.byPerson.map { ($0, tail.start) }
            byService = byService ?? stretch.byService.map { ($0, tail.start) }
        }
        // Reads from before the stretch that contains the first message: its effects are usually after it in the
        // journal, and the state that they change before it.
        let story: Story? =
            if let (id, start) = byPerson ?? byService {
                try await story(
                    id, from: .offset(try await bus.inspect.position(start, offsetBy: -Self.before).offset + 1))
            } else {
                nil
            }
        let isGivenUp = byPerson == nil && tail.start.offset > 0
        return Newest(
            story: story, isOfPerson: byPerson != nil, givenUpAt: isGivenUp ? tail.start.offset + 1 : nil)
    }

    package func story(_ id: String) async throws -> Story {
        try await story(id, from: start ?? .beginning)
    }

    private func story(_ id: String, from start: MonitorStart) async throws -> Story {
        var state = Happenings()
        try await state.learnDeclarations(of: bus)
        return try await read(from: start, into: Story(id: id, after: state)) { story, message in
            story.add(message)
            return false
        }
    }

    /// The newest messages that began stories.
    private struct LastBeginning: Sendable {
        var byPerson: String?
        var byService: String?

        var id: String? { byPerson ?? byService }

        mutating func record(_ message: Envelope) {
            guard message.beginsStory else { return }
            if message.isFromPerson { byPerson = message.id } else { byService = message.id }
        }
    }

    private struct Search: Sendable {
        /// The number of matching stories beyond which the search ends.
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
        from start: MonitorStart, into result: Result, _ body: (inout Result, Envelope) -> Bool
    ) async throws -> Result {
        let span = try await MonitorSpan(start: start, end: .end, duration: nil, on: bus)
        return try await bus.withSubscription(to: [.all], from: span.start, until: span.end, onNotice: nil) {
            var result = result
            for try await message in $0 where body(&result, message) { break }
            return result
        }
    }
}

/// Waits for the next story, and follows it to its end.
///
/// A story has ended when none of its messages has arrived for the time `quiet`, and no guard waits for an answer to
/// one of them.
package struct StoryFollower: Sendable {
    private let bus: EventBus
    private let quiet: Duration

    /// - Parameter quiet: The time without a message of the story after which it has ended, if no guard waits.
    package init(bus: EventBus, quiet: Duration) {
        self.bus = bus
        self.quiet = quiet
    }

    /// - Parameters:
    ///   - whenListening: Called when the subscription is live.
    ///   - show: Called with the story so far when it has new messages.
    /// - Returns: The whole story.
    package func follow(
        whenListening: @escaping @Sendable () async -> Void, _ show: @escaping @Sendable (Story) async throws -> Void
    ) async throws -> Story {
        var state = Happenings()
        try await state.learnPresent(of: bus, session: nil)
        let ear = Ear(after: state)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    await whenListening()
                    for try await message in messages { await ear.handle(message) }
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
        /// The state before the story.
        private var state: Happenings
        private var lastNews = ContinuousClock.now
        private var hasNews = false

        init(after state: Happenings) {
            self.state = state
        }

        func handle(_ message: Envelope) {
            if story == nil {
                if message.kind == .document { state.learn(message) }
                if message.beginsStory { story = Story(id: message.id, after: state) }
            }
            guard story?.add(message) == true else { return }
            lastNews = .now
            hasNews = true
        }

        /// The story if it has new messages since the last call, otherwise nil.
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
    /// Filters that match every message that can begin a story.
    static let storyBeginnings = [MessageFilter.kind(.command), .kind(.event)]

    /// True if the message has a device or comes from the `segue` command, so a person probably caused it.
    var isFromPerson: Bool { attributes.device != nil || attributes.source.begins(with: "segue/") }

    /// True if a story begins with the message: it is a command or an event that no message has caused.
    ///
    /// The commands `ScreenDisplayed` and `ScreenGone`, with which a view reports its screens, do not begin a story.
    var beginsStory: Bool {
        guard attributes.causationID == nil, attributes.correlationID == id else { return false }
        let isReport = type == Command.ScreenDisplayed.type || type == Command.ScreenGone.type
        return type.kind == .event || type.kind == .command && !isReport
    }
}
