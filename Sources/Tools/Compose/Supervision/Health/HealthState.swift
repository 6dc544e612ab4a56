/// What follows from the checks of one run of a service: the rules of the compose specification, and nothing else.
struct HealthState {
    private let probe: HealthProbe
    private(set) var health = ServiceHealth()

    init(probe: HealthProbe) {
        self.probe = probe
    }

    /// How long to wait before the next check.
    ///
    /// - Parameter age: the time since the run began.
    func pause(at age: Duration) -> Duration {
        isStarting(at: age) ? probe.startInterval : probe.interval
    }

    /// - Parameters:
    ///   - failure: why the check failed; `nil` when it succeeded.
    ///   - age: the time since the run began, at the beginning of the check.
    mutating func take(_ failure: String?, at age: Duration) {
        guard let failure else {
            health = ServiceHealth(state: .healthy)
            return
        }
        let counts = !isStarting(at: age)
        health.reason = failure
        guard counts else { return }
        health.failures += 1
        if health.failures >= max(probe.retries, 1) { health.state = .unhealthy }
    }

    /// The start period ends with the first success.
    private func isStarting(at age: Duration) -> Bool {
        health.state == .starting && age < probe.startPeriod
    }
}

extension HealthProbe {
    /// After this a service that was never healthy is unhealthy, however slow its checks are.
    var longestStart: Duration {
        startPeriod + startInterval + timeout + (interval + timeout) * min(max(retries, 1), 10_000)
    }
}
