internal import EventBus
internal import Foundation
internal import Synchronization

/// Reads a stretch of a journal, and comes to an end.
struct JournalReading: Sendable {
    /// What is past comes without delay. If nothing comes for so long, retention has removed the rest.
    private static let patience: Duration = .seconds(3)

    let bus: any EventBus
    let start: MonitorStart
    /// nil for no end.
    let end: JournalEnd?

    /// Hands on each message, in the order of the journal.
    /// - Parameters:
    ///   - filters: which; with an end all come, for the last one may be one that does not match.
    ///   - take: returns whether it has had enough. It may be cancelled as soon as it waits.
    /// - Returns: what `take` has made of `result`, also when the task is cancelled.
    /// - Throws: ``BusError``, and what `take` throws.
    func reduce<Result: Sendable>(
        into result: Result, _ filters: [MessageFilter],
        _ take: @escaping @Sendable (inout Result, Envelope) async throws -> Bool
    ) async throws -> Result {
        let last = try await lastOffset()
        if last == 0 { return result }
        let position = try await Monitor(bus: bus, start: start).startPosition()
        let count = Counter()
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                var result = result
                do {
                    try await read(last == nil ? filters : [.all], from: position, until: last) { message in
                        count.increment()
                        return try await take(&result, message)
                    }
                } catch is CancellationError {}
                return result
            }
            group.addTask {
                try? await waitForLimit(count)
                return nil
            }
            while let next = try await group.next() {
                if let next {
                    group.cancelAll()
                    return next
                }
                if hasLimit { group.cancelAll() }
            }
            return result
        }
    }

    private func read(
        _ filters: [MessageFilter], from position: StartPosition, until last: UInt64?,
        _ take: (Envelope) async throws -> Bool
    ) async throws {
        try await bus.withSubscription(to: filters, from: position) { messages in
            for try await message in messages {
                let isWithin = message.position?.offset ?? 0 <= last ?? .max
                if isWithin, try await take(message) { break }
                // A message of another partition may come before earlier ones.
                if let last, let reached = message.position?.settled, reached >= last { break }
            }
        }
    }

    /// Whether time may end it.
    private var hasLimit: Bool {
        switch end {
        case .now, .after: true
        case .offset, nil: false
        }
    }

    /// Returns when it is time to stop, come what may.
    private func waitForLimit(_ count: Counter) async throws {
        switch end {
        case .after(let duration): try await Task.sleep(for: duration)
        case .now:
            var before: Int
            repeat {
                before = count.value
                try await Task.sleep(for: Self.patience)
            } while count.value != before
        case .offset, nil: return
        }
    }

    private func lastOffset() async throws -> UInt64? {
        switch end {
        case .now: try await bus.newest(matching: [.all]).offset
        case .offset(let offset): offset
        case .after, nil: nil
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        var value: Int { count.load(ordering: .relaxed) }

        func increment() { count.add(1, ordering: .relaxed) }
    }
}
