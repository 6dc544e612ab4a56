/// How often a handler that fails is called for one message, and how long is waited between two calls.
public struct RetryPolicy: Hashable, Sendable {
    /// Four attempts within 2.1 seconds: long enough for a server to be restarted, short enough for a person to wait.
    public static let standard = RetryPolicy(attempts: 4, firstDelay: .milliseconds(100), factor: 4)

    /// How often it is called in all.
    public let attempts: Int
    /// How long is waited before the second call.
    public let firstDelay: Duration
    /// How many times longer than the one before each delay is.
    public let factor: Int

    /// - Parameter attempts: how often it is called in all; at least once.
    public init(attempts: Int, firstDelay: Duration, factor: Int) {
        self.attempts = max(1, attempts)
        self.firstDelay = firstDelay
        self.factor = factor
    }

    /// How long is waited after so many attempts; nil when no other follows.
    func delay(after attempt: Int) -> Duration? {
        guard attempt < attempts else { return nil }
        return (1..<attempt).reduce(firstDelay) { delay, _ in delay * factor }
    }
}
