internal import NATS

/// The servers that run, but do not catch up with the leader of a stream.
struct LaggingServers {
    /// The time in which a server must catch up, or come nearer.
    static let patience = Duration.seconds(60)

    /// The number of checks in which a server must not have come nearer. There may be a long time between two checks.
    private static let leastChecks = 20

    private struct Lag {
        var lowest: Int
        var last: Int
        /// The time at which the server had come nearer, the end of the stream then, and the number of checks since.
        var time: ContinuousClock.Instant
        var end: Int
        var checks = 0
        var isReported = false
    }

    private var lags: [String: Lag] = [:]

    /// - Parameter end: The last sequence of the stream.
    /// - Returns: The names of those that have not come nearer since ``patience``; each is returned once.
    mutating func late(
        among followers: [StreamInfo.Follower], end: Int, at now: ContinuousClock.Instant
    ) -> [String] {
        var late: [String] = []
        let before = lags
        lags = [:]
        for follower in followers where follower.isActive && !follower.isCurrent {
            var lag = before[follower.name] ?? Lag(lowest: follower.lag, last: follower.lag, time: now, end: end)
            // While somebody publishes, a server is seldom current. One that works passes a former end, and its lag
            // falls now and then. A lag may count several messages as one, so passing the end says too little.
            if follower.lag < lag.lowest || follower.lag < lag.last && end - follower.lag > lag.end {
                (lag.lowest, lag.time, lag.end, lag.checks) = (follower.lag, now, end, 0)
            }
            lag.last = follower.lag
            lag.checks += 1
            if !lag.isReported, lag.checks > Self.leastChecks, now - lag.time >= Self.patience {
                lag.isReported = true
                late.append(follower.name)
            }
            lags[follower.name] = lag
        }
        return late
    }
}
