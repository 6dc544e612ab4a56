/// Holds one task until a test opens the gate.
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
