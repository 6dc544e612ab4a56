/// The tasks that a consumer's messages begin, such as timers: one for each element. They end with the consumer.
package struct Companions<Element: Sendable>: Sendable {
    private let elements: AsyncStream<Element>
    private let input: AsyncStream<Element>.Continuation

    package init() {
        (elements, input) = AsyncStream.makeStream()
    }

    /// Begins a task, now or when the consumer runs.
    package func begin(_ element: Element) {
        input.yield(element)
    }

    /// Runs a consumer, and beside it `task` for each element, until the consumer ends. Then the tasks are cancelled.
    /// - Throws: what the consumer or a task throws, whichever is first.
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
