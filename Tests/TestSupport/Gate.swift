/// A latch that a test opens once. One task at a time may wait for it.
package struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    }

    @Sendable package func open() {
        continuation.finish()
    }

    /// Waits until the latch is open.
    /// - Throws: `CancellationError`.
    package func pass() async throws {
        await wait()
        try Task.checkCancellation()
    }

    /// Waits until the latch is open or the task is cancelled.
    package func wait() async {
        for await _ in stream {}
    }
}
