/// The number of attempts to handle a message, and the delays between them.
public struct RetryPolicy: Hashable, Sendable {
    /// Four attempts with delays of 0.1, 0.4 and 1.6 seconds between them.
    public static let standard = RetryPolicy(attempts: 4, firstDelay: .milliseconds(100), factor: 4)

    /// The maximum number of attempts, including the first one. It is at least 1.
    public let attempts: Int
    /// The delay before the second attempt.
    public let firstDelay: Duration
    /// The factor by which each delay is longer than the previous one.
    public let factor: Int

    /// - Parameter attempts: the maximum number of attempts, including the first one. Values below 1 count as 1.
    public init(attempts: Int, firstDelay: Duration, factor: Int) {
        self.attempts = max(1, attempts)
        self.firstDelay = firstDelay
        self.factor = factor
    }

    /// The delay after an attempt. Nil after the last attempt.
    /// - Parameter attempt: the number of the attempt, counted from 1.
    func delay(after attempt: Int) -> Duration? {
        guard attempt < attempts else { return nil }
        return (1..<attempt).reduce(firstDelay) { delay, _ in delay * factor }
    }
}
