internal import NATS

/// The servers that run, but do not catch up with the leader of a stream.
struct LaggingServers {
    /// The time in which a server must catch up, or come nearer.
    static let patience = Duration.seconds(60)

    private struct Lag {
        var lowest: Int
        /// The time at which it was lower than before.
        var time: ContinuousClock.Instant
        var isReported = false
    }

    private var lags: [String: Lag] = [:]

    /// - Returns: The names of those that have not come nearer since ``patience``; each is returned once.
    mutating func late(among followers: [StreamInfo.Follower], at now: ContinuousClock.Instant) -> [String] {
        var late: [String] = []
        let before = lags
        lags = [:]
        for follower in followers where follower.isActive && !follower.isCurrent {
            var lag = before[follower.name] ?? Lag(lowest: follower.lag, time: now)
            if follower.lag < lag.lowest { (lag.lowest, lag.time) = (follower.lag, now) }
            if !lag.isReported, now - lag.time >= Self.patience {
                lag.isReported = true
                late.append(follower.name)
            }
            lags[follower.name] = lag
        }
        return late
    }
}
