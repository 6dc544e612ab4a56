package import Contracts

extension ApplicationError {
    /// The error of a request that was not sent, or was refused, because there have been too many.
    package static func rateLimited(recovery: String, severity: Severity = .error) -> ApplicationError {
        ApplicationError(
            code: "spotify.rate-limited", message: "Spotify has received too many requests, and asks to wait",
            recovery: recovery, severity: severity)
    }

    /// The time at which a request may be repeated, as a part of a sentence: `in 22 hours`. It is rounded up.
    /// - Parameter wait: the time until then. Nil if it is not known.
    package static func timeOfRetry(_ wait: Duration?) -> String {
        guard let wait else { return "in a moment" }
        let (whole, fraction) = wait.components
        let seconds = max(1, fraction > 0 ? whole + 1 : whole)
        let units: [(name: String, seconds: Int64)] = [("second", 1), ("minute", 60), ("hour", 3600)]
        // 90 seconds and 90 minutes are still told in the smaller unit.
        let unit = units.first { seconds <= 90 * $0.seconds } ?? ("hour", 3600)
        let number = (seconds + unit.seconds - 1) / unit.seconds
        return "in \(number) \(unit.name)\(number == 1 ? "" : "s")"
    }
}
