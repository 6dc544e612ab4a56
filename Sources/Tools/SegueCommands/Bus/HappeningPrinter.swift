internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// Writes what happens on a bus to standard output, one line for each happening.
actor HappeningPrinter {
    /// The time without a message after which the last happening is complete.
    private static let quiet: Duration = .milliseconds(50)

    /// The correlation id of the only story that is shown. Nil for all stories.
    private let story: String?
    private let isColored: Bool
    private let output: Console
    private var happenings = Happenings()
    private var format = HappeningFormat()
    /// The time at which the last message arrived.
    private var lastArrival = ContinuousClock.now

    init(story: String?, isColored: Bool, output: Console = .output) {
        self.story = story
        self.isColored = isColored
        self.output = output
    }

    /// Prints the messages of a monitor until it ends.
    /// - Parameters:
    ///   - session: The only session of the messages. Nil for all.
    ///   - isLive: True if the monitor begins with the next message, so that the present documents are the state before.
    func run(_ monitor: Monitor, on bus: EventBus, session: String?, isLive: Bool) async throws {
        var happenings = Happenings()
        if isLive {
            try await happenings.learnPresent(of: bus, session: session)
        } else {
            try await happenings.learnDeclarations(of: bus)
        }
        self.happenings = happenings
        let result: Result<Void, any Error>
        do {
            result = .success(try await show(monitor))
        } catch {
            result = .failure(error)
        }
        // The last happening is shown after an interruption, too.
        try await flush(after: .zero)
        try result.get()
    }

    private func show(_ monitor: Monitor) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await monitor.run({ try await self.show($0) }, tell: { await Console.error.tell("\($0)") })
                return true
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.quiet)
                    try await self.flush(after: Self.quiet)
                }
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    /// A line that tells how many messages were not shown. Nil if there were none.
    var note: String? {
        let count = happenings.hiddenCount
        guard count > 0 else { return nil }
        return
            "not shown: \(count) \(count == 1 ? "message" : "messages") that only processes need, such as deadlines; "
            + "--all shows every message"
    }

    private func show(_ message: Envelope) async throws {
        lastArrival = .now
        if let story, message.attributes.correlationID != story {
            if message.kind == .document { happenings.learn(message) }
        } else {
            try await write(happenings.handle(message))
        }
    }

    private func flush(after quiet: Duration) async throws {
        guard ContinuousClock.now - lastArrival >= quiet else { return }
        try await write(happenings.flush())
    }

    private func write(_ happening: Happening?) async throws {
        guard let happening else { return }
        let columns = output.columns
        let lines = format.lines(happening, columns: columns)
        try await output.append(
            lines.map { $0.rendered(isColored: isColored, columns: columns) + "\n" }.joined())
    }
}
