package import EventBus
internal import Foundation

/// Reads the messages of a bus as they come, for a person or a program to see.
package struct Monitor: Sendable {
    private let bus: any EventBus
    private let selection: MessageSelection
    private let start: MonitorStart
    private let count: Int?

    /// - Parameter count: after how many messages to end; `nil` for never.
    package init(
        bus: any EventBus, selection: MessageSelection = MessageSelection(), start: MonitorStart = .now,
        count: Int? = nil
    ) {
        self.bus = bus
        self.selection = selection
        self.start = start
        self.count = count
    }

    /// Shows each message that matches, in the order of the journal, until there were enough.
    ///
    /// It takes the next message when `show` returns: what a slow reader has not taken waits in the journal.
    /// - Throws: ``BusError``, `CancellationError`, and what `show` throws.
    package func run(_ show: (Envelope) async throws -> Void) async throws {
        var left = count ?? .max
        guard left > 0 else { return }
        try await bus.withSubscription(to: selection.filters, from: startPosition()) { messages in
            for try await message in messages where selection.matches(message) {
                try await show(message)
                left -= 1
                if left == 0 { break }
            }
        }
    }

    func startPosition() async throws -> StartPosition {
        switch start {
        case .now: return .now
        case .beginning, .offset(0): return .beginning
        case .retained: return .retained
        case .offset(let offset): return .after(Position(epoch: try await end().epoch, offset: offset - 1))
        case .ago(let duration): return .since(Date(timeIntervalSinceNow: -(duration / .seconds(1))))
        }
    }

    /// The journal's end. A batch of nothing changes nothing, and is answered with it.
    private func end() async throws -> Position {
        try await bus.publish(Batch([]))
    }
}
