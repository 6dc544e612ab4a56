extension EventBus {
    /// Subscribes for as long as `body` runs, with no end of its own.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, from: start, until: nil, onNotice: nil, body)
    }
}

extension EventBus {
    /// Subscribes to what a claim covers, for a reader that publishes the checkpoint of a message before it asks for the next
    /// one.
    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await withSubscription(to: filters, under: claim, progress: nil, body)
    }

    public var taskExecutor: (any TaskExecutor)? { nil }
}
