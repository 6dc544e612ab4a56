/// Holds a task until a test lets it go. For one task that waits.
package struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    }

    package func open() {
        continuation.finish()
    }

    package func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
