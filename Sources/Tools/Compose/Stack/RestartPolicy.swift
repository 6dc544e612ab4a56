/// Whether a service that has ended is started again.
package enum RestartPolicy: Sendable, Equatable {
    case no
    /// However it has ended; at most so many times in a row, if a limit is given.
    case always(limit: Int? = nil)
    /// After an exit status other than 0, or a signal; at most so many times in a row, if a limit is given.
    case onFailure(limit: Int?)
    /// Without a daemon that outlives the stack this is the same as ``always``.
    case unlessStopped

    /// Reads `no`, `always`, `unless-stopped`, `on-failure` or `on-failure:3`.
    init?(_ text: String) {
        switch text {
        case "no": self = .no
        case "always": self = .always()
        case "unless-stopped": self = .unlessStopped
        case "on-failure": self = .onFailure(limit: nil)
        default:
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0] == "on-failure", let limit = Int(parts[1]), limit > 0 else { return nil }
            self = .onFailure(limit: limit)
        }
    }

    /// - Parameter attempts: how often it has been restarted since it last ran well.
    func restarts(succeeded: Bool, attempts: Int) -> Bool {
        switch self {
        case .no: false
        case .unlessStopped: true
        case .always(let limit): attempts < limit ?? .max
        case .onFailure(let limit): !succeeded && attempts < limit ?? .max
        }
    }
}

extension RestartPolicy: CustomStringConvertible {
    /// As `restart` in a compose file says it. A limit of ``always`` stands in `deploy.restart_policy.max_attempts`.
    package var description: String {
        switch self {
        case .no: "no"
        case .always: "always"
        case .unlessStopped: "unless-stopped"
        case .onFailure(nil): "on-failure"
        case .onFailure(let limit?): "on-failure:\(limit)"
        }
    }
}

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
