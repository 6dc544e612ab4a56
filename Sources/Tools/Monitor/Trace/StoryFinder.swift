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
    package func last() async throws -> String? {
        try await read(from: start, into: nil) { (last: inout String?, message) in
            if message.beginsStory { last = message.id }
            return false
        }
    }

    package func story(_ id: String) async throws -> Story {
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
