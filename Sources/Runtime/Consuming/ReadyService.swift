public import ServiceLifecycle

/// A service that becomes ready some time after it has started. The process is ready when all services of this kind
/// have signalled that they are ready.
public protocol ReadyService: Service {
    /// Signalled by the service's `run()` when the service is ready.
    var ready: ReadySignal { get }
}

/// A latch that stays open after the first ``signal()``. Any task may open it, but only one task may wait for it.
public struct ReadySignal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    public init() {
        (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    }

    /// Opens the latch. Further calls have no effect.
    public func signal() {
        continuation.finish()
    }

    /// Waits until the latch is open.
    /// - Throws: `CancellationError`.
    public func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
