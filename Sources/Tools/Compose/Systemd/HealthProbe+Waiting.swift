extension HealthProbe {
    /// `sleep` takes no less.
    private var pause: Duration { max(.milliseconds(1), min(interval, startInterval)) }

    private var attempts: Int {
        max(retries, Int(((startPeriod + interval * retries) / pause).rounded(.up)))
    }

    /// A script for `sh` that runs its arguments until they succeed, for as long as the probe would.
    var waitingScript: String {
        let each = "timeout \(Self.seconds(timeout)) \"$@\""
        return "n=1; until \(each); do [ $n -lt \(attempts) ] || exit 1; n=$((n+1)); sleep \(Self.seconds(pause)); done"
    }

    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let millis = String(attoseconds / 1_000_000_000_000_000 + 1000).dropFirst()
        return "\(seconds).\(millis)"
    }
}
