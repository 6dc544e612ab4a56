import Consuming
import ServiceRuntime

extension RetryPolicy {
    /// No second attempt.
    static let once = RetryPolicy(attempts: 1, firstDelay: .zero, factor: 1)
}
