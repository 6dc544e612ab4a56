public import ServiceLifecycle

/// A service that becomes ready some time after it has started. The process is ready when all of its services are.
public protocol ReadyService: Service {
    /// Signalled by the service's `run()` when the service is ready.
    var ready: ReadySignal { get }
}

/// A latch that is opened once. One task may wait for it; any number of tasks may open it.
public struct ReadySignal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    public init() {
        (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    }

    /// Opens the latch. Further calls change nothing.
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
