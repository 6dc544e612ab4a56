internal import Support
internal import Synchronization

/// Tasks, such as timers, that run at the same time as a consumer and are cancelled when the consumer ends. There is
/// one task for each element.
package struct ConsumerTasks<Element: Sendable>: Sendable {
    private let elements: AsyncStream<Element>
    private let input: AsyncStream<Element>.Continuation

    package init() {
        (elements, input) = AsyncStream.makeStream()
    }

    /// Starts the task of an element: at once if the consumer runs, otherwise when the consumer starts.
    package func begin(_ element: Element) {
        input.yield(element)
    }

    /// Runs a consumer and, at the same time, `task` for each element. When the consumer ends, the tasks are cancelled.
    /// - Throws: the first error of the consumer or of a task.
    package func run(
        beside consumer: @escaping @Sendable () async throws -> Void,
        task: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                defer { input.finish() }
                try await consumer()
            }
            for await element in elements { group.addTask { try await task(element) } }
            group.cancelAll()
        }
    }
}

/// A task that other tasks can end. Those that end it wait until it has ended.
final class StoppableTask: Sendable {
    private let stop = Latch()
    private let hasEnded = Latch()

    /// Runs the work until it ends by itself or is cancelled.
    func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
        defer { hasEnded.open() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await work() }
            tasks.addTask { [stop] in await stop.waitUntilOpenOrCancelled() }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    /// Cancels the work, and returns after it has ended.
    func end() async throws {
        stop.open()
        try await hasEnded.waitUntilOpen()
    }
}
