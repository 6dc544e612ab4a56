package import EventBus

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
