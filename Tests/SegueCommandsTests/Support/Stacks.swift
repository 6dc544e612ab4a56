enum Stacks {
    /// Nothing but a bus.
    static let broker = """
        name: demo
        services:
          broker: {command: broker, healthcheck: {test: [NOTIFY]}}
        """

    /// A service that says why it cannot start.
    static let failing = """
        name: failing
        services:
          broken: {command: [sh, -c, "echo the disk is full; exit 3"], healthcheck: {test: [NOTIFY]}}
        """

    /// Two services, of which the second waits for the first, each ready when there is a file of its name.
    static let gated = """
        name: checked
        services:
          first:
            command: [sh, -c, "echo hello; exec sleep 600"]
            healthcheck: {test: [CMD, test, -e, first], interval: 20ms, retries: 100000}
          second:
            command: [sh, -c, "exec sleep 600"]
            healthcheck: {test: [CMD, test, -e, second], interval: 20ms, retries: 100000}
            depends_on: {first: {condition: service_healthy}}
        """

    /// Services that write a line each and stay.
    static let talking = """
        name: talking
        services:
          one: {command: [sh, -c, "echo first; echo last; exec sleep 600"]}
          second: {command: [sh, -c, "echo other; exec sleep 600"]}
        """

    /// A service that always takes part, and one that does so when it is asked for.
    static let profiled = """
        name: demo
        services:
          web: { command: [sleep, "600"] }
          debugger: { command: [sleep, "600"], profiles: [debug] }
        """

    /// One that is not ready for an hour, and one that waits for a job, which waits for a line in `go`.
    static let awaiting = """
        name: demo
        services:
          slow: { command: [sleep, "600"], healthcheck: { test: [NOTIFY], start_period: 1h } }
          job: { command: [sh, -c, "read line < go"] }
          web: { command: [sleep, "600"], depends_on: { job: { condition: service_completed_successfully } } }
        """

    /// One that says in `begun` that it runs, and is not ready for an hour.
    static let slow = """
        name: demo
        services:
          slow:
            command: [sh, -c, "echo > begun; exec sleep 600"]
            healthcheck: { test: [NOTIFY], start_period: 1h }
        """
}
