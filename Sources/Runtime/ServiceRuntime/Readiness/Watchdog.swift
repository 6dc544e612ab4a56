internal import Foundation

/// How often the supervisor wants to hear that the process lives (sd_watchdog_enabled(3)).
struct Watchdog: Sendable, Equatable {
    /// Within this time it must hear it.
    let timeout: Duration

    /// - Returns: nil if nobody asks this process: the variables are not set, or are another process's.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        pid: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        // A child inherits the variables of who was asked.
        if let owner = environment["WATCHDOG_PID"], owner != String(pid) { return nil }
        timeout = .microseconds(microseconds)
    }

    /// Half of the time, as the manual advises.
    var interval: Duration { timeout / 2 }
}
