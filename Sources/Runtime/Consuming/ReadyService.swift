public import ServiceLifecycle

/// A service that is not ready as soon as it runs. The process is ready once all of its services are.
public protocol ReadyService: Service {
    /// Signalled by the service's `run()`.
    var ready: ReadySignal { get }
}

/// A latch that is opened once. For one task that waits and any that signal.
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
