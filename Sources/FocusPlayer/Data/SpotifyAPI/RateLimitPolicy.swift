/// The number of times that a request is sent, and the time between them, when Spotify answers "too many requests".
package struct RateLimitPolicy: Sendable {
    /// The longest `Retry-After` that is waited for; a longer one is reported instead.
    package let longestWait: Duration
    /// How many times one request is sent at most.
    package let attempts: Int
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: waits; a test passes one that does not.
    package init(
        longestWait: Duration = .seconds(5), attempts: Int = 3,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.longestWait = longestWait
        self.attempts = attempts
        self.sleep = sleep
    }
}
