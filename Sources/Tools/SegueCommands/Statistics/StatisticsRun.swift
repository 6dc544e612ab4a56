internal import Contracts
internal import EventBus
internal import Monitor

/// Counts what a monitor sees, and shows it each time an interval has passed.
struct StatisticsRun: Sendable {
    let bus: any EventBus
    let monitor: Monitor
    let interval: Duration
    /// Whether one interval is enough.
    let isOnce: Bool
    let display: StatisticsDisplay

    private var presence: [MessageFilter] { [.type(Document.Presence.self)] }

    /// Ends when the monitor does. Whether it ends or is interrupted, the last that it shows is the sum of it all.
    /// - Throws: what the monitor throws, and `CancellationError`.
    func run() async throws {
        let board = StatisticsBoard()
        let result: Result<Void, any Error>
        do {
            result = .success(try await count(on: board))
        } catch {
            result = .failure(error)
        }
        if !isOnce { try await display.show(board.summary()) }
        try result.get()
    }

    private func count(on board: StatisticsBoard) async throws {
        // Known before anything is shown, however short the monitor runs.
        for document in try await bus.documents(matching: presence) { board.note(presence: document) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await monitor.run({ board.note($0) }, tell: { board.note($0) }) }
            group.addTask { try await showReports(of: board) }
            group.addTask {
                try await bus.withSubscription(to: presence, from: .retained) { documents in
                    for try await document in documents { board.note(presence: document) }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func showReports(of board: StatisticsBoard) async throws {
        repeat {
            try await Task.sleep(for: interval)
            try await display.show(board.report())
        } while !isOnce
    }
}
