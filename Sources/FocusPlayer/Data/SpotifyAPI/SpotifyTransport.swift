internal import HTTPClient
internal import HTTPTypes

/// Sends requests to either host: with a deadline, a bounded answer, and as many attempts as the policy allows.
struct SpotifyTransport: Sendable {
    /// For the whole exchange.
    private static let deadline = Duration.seconds(10)
    /// A page of 50 items with all their covers and markets stays below 1 MiB.
    private static let maximumBody = 4 << 20

    let client: HTTPClient
    let policy: RateLimitPolicy

    /// - Throws: `HTTPClient.Failure`, `CancellationError`.
    func send(_ request: HTTPClient.Request) async throws -> SpotifyReply {
        var attempt = 1
        while true {
            let response = try await client.send(request, deadline: Self.deadline, maximumBody: Self.maximumBody)
            let reply = SpotifyReply(response)
            guard reply.status == .tooManyRequests, attempt < policy.attempts,
                let wait = reply.retryAfter, wait <= policy.longestWait
            else { return reply }
            // Spotify has not acted upon it: any request may be sent again.
            try await policy.sleep(wait)
            attempt += 1
        }
    }
}
