internal import NATS

/// The servers that run, but do not catch up with the leader of a stream.
struct LaggingServers {
    /// The time in which a server must catch up, or come nearer.
    static let patience = Duration.seconds(60)

    private struct Lag {
        var lowest: Int
        /// The time at which it was lower than before, and the end of the stream then.
        var time: ContinuousClock.Instant
        var end: Int
        var isReported = false
    }

    /// The time without a look after which nothing is known of the time between.
    private static let gap = Duration.seconds(10)

    private var lags: [String: Lag] = [:]
    private var time: ContinuousClock.Instant?

    /// - Parameter end: The last sequence of the stream.
    /// - Returns: The names of those that have not come nearer since ``patience``; each is returned once.
    mutating func late(
        among followers: [StreamInfo.Follower], end: Int, at now: ContinuousClock.Instant
    ) -> [String] {
        var late: [String] = []
        let before = time.map { now - $0 < Self.gap } ?? false ? lags : [:]
        (lags, time) = ([:], now)
        for follower in followers where follower.isActive && !follower.isCurrent {
            var lag = before[follower.name] ?? Lag(lowest: follower.lag, time: now, end: end)
            // While somebody publishes, a server is seldom current. It comes nearer if it passes a former end.
            if follower.lag < lag.lowest || end - follower.lag > lag.end {
                (lag.lowest, lag.time, lag.end) = (follower.lag, now, end)
            }
            if !lag.isReported, now - lag.time >= Self.patience {
                lag.isReported = true
                late.append(follower.name)
            }
            lags[follower.name] = lag
        }
        return late
    }
}
