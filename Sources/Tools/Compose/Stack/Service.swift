/// One process of a stack: what to run, in which surroundings, after whom, and what to do when it ends.
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
    package var readiness: Readiness
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
        readiness: Readiness = .started,
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
        self.readiness = readiness
        self.stopSignal = stopSignal
        self.stopGracePeriod = stopGracePeriod
        self.labels = labels
    }
}
