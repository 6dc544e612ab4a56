import Support

/// The rule that decides if a service that has ended is started again.
package enum RestartPolicy: Sendable, Equatable {
    case no
    /// Restarts the service after any end, at most `limit` times in a row. Nil: without a limit.
    case always(limit: Int? = nil)
    /// Restarts the service after an exit status other than 0, or a signal, at most `limit` times in a row. Nil:
    /// without a limit.
    case onFailure(limit: Int?)
    /// The same as ``always`` without a limit.
    case unlessStopped

    /// Reads `no`, `always`, `unless-stopped`, `on-failure` or `on-failure:3`.
    init?(_ text: String) {
        switch text {
        case "no": self = .no
        case "always": self = .always()
        case "unless-stopped": self = .unlessStopped
        case "on-failure": self = .onFailure(limit: nil)
        default:
            let parts = text.split(scalar: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0] == "on-failure", let limit = Int(parts[1]), limit > 0 else { return nil }
            self = .onFailure(limit: limit)
        }
    }

    /// True if the service is to be restarted.
    ///
    /// - Parameters:
    ///   - status: the exit status. Nil if a signal or the supervisor has ended the service.
    ///   - attempts: the number of restarts since the last good run.
    func restarts(succeeded: Bool, status: Int32?, attempts: Int) -> Bool {
        switch self {
        case .no: false
        case .unlessStopped: true
        case .always(let limit): attempts < limit ?? .max
        case .onFailure(let limit): !succeeded && !Self.permanent.contains(status ?? 0) && attempts < limit ?? .max
        }
    }

    /// The statuses of programs that would fail again: without an accepted key (`EX_NOPERM` in sysexits.h), and with an
    /// invalid configuration (`EX_CONFIG`).
    static let permanent: Set<Int32> = [77, 78]
}

extension RestartPolicy: CustomStringConvertible {
    /// The value of `restart` in a compose file. A limit of ``always`` is written in
    /// `deploy.restart_policy.max_attempts`.
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

/// The pause before a service is restarted. The pause doubles with each restart, up to a maximum. After a good run, it
/// is the initial pause again.
package struct RestartBackoff: Sendable, Equatable {
    package var initial: Duration
    package var maximum: Duration
    /// The minimum length of a good run.
    package var resetAfter: Duration

    package init(
        initial: Duration = .milliseconds(100),
        maximum: Duration = .seconds(10),
        resetAfter: Duration = .seconds(10)
    ) {
        self.initial = initial
        self.maximum = maximum
        self.resetAfter = resetAfter
    }

    /// The pause before the next restart.
    ///
    /// - Parameter attempts: the number of restarts since the last good run, not counting the next restart.
    func delay(attempts: Int) -> Duration {
        // The exponent has a maximum, so that the number cannot overflow.
        min(maximum, initial * (1 << min(attempts, 20)))
    }
}
