/// How long to wait before a service is started again: longer each time, until it has run well for a while.
package struct RestartBackoff: Sendable, Equatable {
    package var initial: Duration
    package var maximum: Duration
    /// A run of at least this length was a good one: the next wait is the initial one again.
    package var resetAfter: Duration

    /// Docker's own numbers but for a lower maximum: whoever repairs something while developing won't wait a minute.
    package init(
        initial: Duration = .milliseconds(100),
        maximum: Duration = .seconds(10),
        resetAfter: Duration = .seconds(10)
    ) {
        self.initial = initial
        self.maximum = maximum
        self.resetAfter = resetAfter
    }

    /// - Parameter attempts: restarts since the last good run, not counting this one.
    func delay(attempts: Int) -> Duration {
        // Doubling stops well before the number could overflow.
        min(maximum, initial * (1 << min(attempts, 20)))
    }
}
