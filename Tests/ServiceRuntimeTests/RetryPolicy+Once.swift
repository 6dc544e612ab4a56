import Consuming

extension RetryPolicy {
    /// No second attempt.
    static let once = RetryPolicy(attempts: 1, firstDelay: .zero, factor: 1)
}
