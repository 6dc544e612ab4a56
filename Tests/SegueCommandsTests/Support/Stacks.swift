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

    /// Services that are asked whether they are ready, one after the other.
    static let checked = """
        name: checked
        x-check: &check {test: [CMD, "true"], interval: 20ms}
        services:
          first: {command: [sh, -c, "echo hello; exec sleep 600"], healthcheck: *check}
          second:
            command: [sh, -c, "exec sleep 600"]
            healthcheck: *check
            depends_on: {first: {condition: service_healthy}}
        """

    /// Services that write a line each and stay.
    static let talking = """
        name: talking
        services:
          one: {command: [sh, -c, "echo first; echo last; exec sleep 600"]}
          second: {command: [sh, -c, "echo other; exec sleep 600"]}
        """
}
