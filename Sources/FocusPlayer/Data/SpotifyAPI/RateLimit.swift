internal import Synchronization

/// The number of times that a request is sent, and the time between them, when Spotify answers "too many requests".
package struct RateLimitPolicy: Sendable {
    /// The maximum `Retry-After` for which a request waits. A longer time is an error.
    package let longestWait: Duration
    /// The maximum number of times that a request is sent.
    package let attempts: Int
    /// The maximum time of all attempts of a request with the waits between them.
    package let overallLimit: Duration
    let now: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: returns the current time, at which waits begin and end.
    ///   - sleep: waits for this time.
    package init(
        longestWait: Duration = .seconds(5), attempts: Int = 3, overallLimit: Duration = .seconds(20),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.longestWait = longestWait
        self.attempts = attempts
        self.overallLimit = overallLimit
        self.now = now
        self.sleep = sleep
    }
}

/// The waits of one operation because of rate limits. Their number and their time are limited.
struct RateLimitWaits {
    private let policy: RateLimitPolicy
    private let longest: Duration
    private let deadline: ContinuousClock.Instant
    private var rest: Duration
    private var count: Int

    /// - Parameters:
    ///   - longest: the maximum time of one wait.
    ///   - total: the maximum time of all waits.
    ///   - count: the maximum number of waits.
    ///   - deadline: the end of the operation. A wait that would not end before it does not begin, so that the error is
    ///     that of the rate limit.
    init(
        _ policy: RateLimitPolicy, longest: Duration, total: Duration, count: Int, deadline: ContinuousClock.Instant
    ) {
        self.policy = policy
        self.longest = longest
        self.deadline = deadline
        rest = total
        self.count = count
    }

    /// Waits before a request is repeated.
    /// - Parameter retryAfter: the time for which Spotify asks. Nil if it names none.
    /// - Returns: false, at once, if the time is not known or not within the limits.
    mutating func wait(for retryAfter: Duration?) async throws -> Bool {
        // A server that asks for no time at all must not be asked without an end.
        guard let wait = retryAfter.map({ max($0, .seconds(1)) }), count > 0, wait <= min(longest, rest),
            policy.now() + wait < deadline
        else { return false }
        count -= 1
        rest -= wait
        try await policy.sleep(wait)
        return true
    }
}

/// The wait for which Spotify has asked last. Until it has ended, no request is sent, because each one would lengthen
/// the wait. It applies to all requests of an app, so the sessions of a process share it.
package final class SharedRateLimit: Sendable {
    /// The time to wait if Spotify names none. Spotify counts the requests of 30 seconds.
    private static let unnamedWait = Duration.seconds(30)

    private let end = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    /// The rest of the wait. Nil if there is none.
    func remaining(at now: ContinuousClock.Instant) -> Duration? {
        end.withLock(\.self).flatMap { now < $0 ? now.duration(to: $0) : nil }
    }

    /// - Parameter wait: nil if Spotify names no time.
    func record(_ wait: Duration?, at now: ContinuousClock.Instant) {
        let new = now + (wait ?? Self.unnamedWait)
        end.withLock { $0 = max($0 ?? new, new) }
    }
}
