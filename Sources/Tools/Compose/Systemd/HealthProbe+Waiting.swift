extension HealthProbe {
    /// How long a service may take to become healthy.
    var patience: Duration {
        startPeriod + (interval + timeout) * retries + .seconds(5)
    }

    /// A script for `sh` that runs its arguments until they succeed, for as long as the probe would.
    var waitingScript: String {
        let pause = min(interval, startInterval)
        let attempts = max(retries, Int(((startPeriod + interval * retries) / pause).rounded(.up)))
        let each = "timeout \(Self.seconds(timeout)) \"$@\""
        return "n=1; until \(each); do [ $n -lt \(attempts) ] || exit 1; n=$((n+1)); sleep \(Self.seconds(pause)); done"
    }

    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let millis = String(attoseconds / 1_000_000_000_000_000 + 1000).dropFirst()
        return "\(seconds).\(millis)"
    }
}
