/// A command that tells whether a service is healthy: by status 0 it is.
///
/// The names and what stands in for those left out are those of `healthcheck` in the compose specification.
package struct HealthProbe: Sendable, Equatable {
    /// The executable and its arguments, run in the service's folder with the service's variables.
    package var command: [String]
    /// From the end of one run to the beginning of the next.
    package var interval: Duration
    /// A run that takes longer has failed.
    package var timeout: Duration
    /// So many failed runs in a row make the service unhealthy.
    package var retries: Int
    /// For so long after the start a failed run does not count, unless one has succeeded already.
    package var startPeriod: Duration
    /// The interval while the start period lasts.
    package var startInterval: Duration

    package init(
        command: [String],
        interval: Duration = .seconds(30),
        timeout: Duration = .seconds(30),
        retries: Int = 3,
        startPeriod: Duration = .zero,
        startInterval: Duration = .seconds(5)
    ) {
        self.command = command
        self.interval = interval
        self.timeout = timeout
        self.retries = retries
        self.startPeriod = startPeriod
        self.startInterval = startInterval
    }
}
