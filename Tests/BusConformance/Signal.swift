/// Something that happens once. For one that waits; several may wait one after the other.
package struct Signal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    @Sendable package func send() {
        continuation.finish()
    }

    /// Returns when it has been sent, or when the task is cancelled.
    package func wait() async {
        for await _ in stream {}
    }
}
