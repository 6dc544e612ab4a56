extension Task where Success == Never, Failure == Never {
    /// Suspends until the task is cancelled.
    static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
    }
}
