extension EventBus {
    /// Subscribes for as long as `body` runs, with no end of its own.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, from: start, until: nil, onNotice: nil, body)
    }
}
