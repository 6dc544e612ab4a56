/// One service of a stack: what to run, in which surroundings, after whom, and what to do when it ends.
///
/// Command, working directory and environment may refer to what the supervisor offers, as in `${SEGUE_PORT_SPOTIFY}`.
package struct Service: Sendable, Equatable {
    package var name: String
    /// The executable and its arguments. A bare name is looked up beside `segue` first, then in `PATH`.
    package var command: [String]
    /// Absolute, or relative to the stack's folder; `nil` is the stack's folder.
    package var workingDirectory: String?
    /// Added to what the supervisor itself has. `nil` removes a variable.
    package var environment: [String: String?]
    package var dependencies: [Dependency]
    package var restart: RestartPolicy
    /// How long to wait between restarts; `nil` is the supervisor's way.
    package var backoff: RestartBackoff?
    package var readiness: Readiness
    /// Once it is ready, the service must send `WATCHDOG=1` (sd_notify) at least this often, or it counts as hung.
    package var watchdog: Duration?
    /// How many processes of it run beside each other; 0 is none.
    package var replicas: Int
    /// It takes part only when one of these is asked for, or itself by name; without any it always does.
    package var profiles: [String]
    /// What asks the service to stop; after the grace comes `SIGKILL`.
    package var stopSignal: StopSignal
    package var stopGracePeriod: Duration
    package var labels: [String: String]

    package init(
        name: String,
        command: [String],
        workingDirectory: String? = nil,
        environment: [String: String?] = [:],
        dependencies: [Dependency] = [],
        restart: RestartPolicy = .no,
        backoff: RestartBackoff? = nil,
        readiness: Readiness = .started,
        watchdog: Duration? = nil,
        replicas: Int = 1,
        profiles: [String] = [],
        stopSignal: StopSignal = .terminate,
        stopGracePeriod: Duration = .seconds(10),
        labels: [String: String] = [:]
    ) {
        self.name = name
        self.command = command
        self.workingDirectory = workingDirectory
        self.environment = environment
        self.dependencies = dependencies
        self.restart = restart
        self.backoff = backoff
        self.readiness = readiness
        self.watchdog = watchdog
        self.replicas = replicas
        self.profiles = profiles
        self.stopSignal = stopSignal
        self.stopGracePeriod = stopGracePeriod
        self.labels = labels
    }

    /// What its processes are called in status, logs, and for sockets: the service's name, or `NAME-1` … `NAME-N`.
    package var instances: [String] {
        replicas == 1 ? [name] : (0..<replicas).map { "\(name)-\($0 + 1)" }
    }
}
