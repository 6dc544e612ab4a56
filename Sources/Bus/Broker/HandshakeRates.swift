/// The handshakes of each user. They have a limit because libzmq's ROUTER numbers its peers, beginning anywhere in four
/// billion, and aborts the process if a peer has taken the next number as its own id. A user with about a hundred
/// connections, silent ones included, meets the number with a probability of 0.4 % a day.
struct HandshakeRates {
    /// The number of handshakes at once, and of those for each second after that.
    static let (burst, rate) = (256.0, 2.0)

    private struct Bucket {
        var tokens = HandshakeRates.burst
        var time: ContinuousClock.Instant
    }

    private var buckets: [String: Bucket] = [:]

    /// - Returns: False if the user has too many.
    mutating func admit(_ user: String, at now: ContinuousClock.Instant) -> Bool {
        var bucket = buckets[user] ?? Bucket(time: now)
        bucket.tokens = min(Self.burst, bucket.tokens + (now - bucket.time) / .seconds(1) * Self.rate)
        bucket.time = now
        defer { buckets[user] = bucket }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }
}
