/// The variables that the supervisor sets for a service, by name.
///
/// A stack may refer to them as `${SEGUE_PORT_SPOTIFY}` in commands, working directories and the values of variables:
/// they are expanded when the service starts, as the ports are picked and the folders chosen only then.
struct OfferedVariables {
    private static let fixedNames: Set = [
        "SEGUE_BUS", "SEGUE_PROJECT", "SEGUE_STATE_DIR", "SEGUE_SERVICE", "SEGUE_REPLICA",
    ]

    /// Those of sd_notify(3) and sd_watchdog_enabled(3): who has them speaks for the process that was given them.
    static let notificationVariables: Set = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    let values: [String: String]

    /// - Parameters:
    ///   - name: the project's, if its folders are called something else.
    ///   - replica: which of the service's processes it is, counted from 1.
    init(project: Project, name: String? = nil, ports: [String: Int], service: String, replica: Int = 1) {
        var values = [
            "SEGUE_BUS": project.busAddress, "SEGUE_PROJECT": name ?? project.name,
            "SEGUE_STATE_DIR": project.dataDirectory,
            "SEGUE_SERVICE": service, "SEGUE_REPLICA": String(replica),
        ]
        for (name, port) in ports {
            if let variable = Self.portVariable(name) { values[variable] = String(port) }
        }
        self.values = values
    }

    /// The names that a stack with these `x-ports` may refer to.
    static func names(ports: [String]) -> Set<String> {
        fixedNames.union(ports.compactMap(portVariable))
    }

    /// `SEGUE_PORT_SPOTIFY` for `spotify`; `nil` when the name cannot be made a variable's.
    static func portVariable(_ name: String) -> String? {
        guard name.wholeMatch(of: #/[a-zA-Z0-9][a-zA-Z0-9_-]*/#) != nil else { return nil }
        return "SEGUE_PORT_" + name.uppercased().replacing("-", with: "_")
    }

    /// The service with every reference expanded.
    ///
    /// A literal `$${SEGUE_BUS}`, meant for a shell within the service, looks the same here; the shell would find the
    /// same value in its environment.
    func expanded(_ service: Service) -> Service {
        var service = service
        service.command = service.command.map(expanded)
        service.workingDirectory = service.workingDirectory.map(expanded)
        service.environment = service.environment.mapValues { $0.map(expanded) }
        if case .probe(var probe) = service.readiness {
            probe.command = probe.command.map(expanded)
            service.readiness = .probe(probe)
        }
        return service
    }

    /// All that a service finds: the supervisor's variables, over them what the project offers, over that what the service's
    /// own entry says.
    ///
    /// - Parameters:
    ///   - inherited: the supervisor's own.
    ///   - notifyPath: where the service sends its readiness.
    func environment(
        of service: Service, inherited: [String: String], notifyPath: String
    ) -> [String: String] {
        // These would have the service answer to the supervisor's own launcher.
        var variables = inherited.filter { !Self.notificationVariables.contains($0.key) }
        for (name, value) in values { variables[name] = value }
        for (name, value) in service.environment { variables[name] = value }
        // Without WATCHDOG_PID, which sd_watchdog_enabled(3) takes for whoever asks: the number is not known before.
        if let watchdog = service.watchdog { variables["WATCHDOG_USEC"] = String(Int64(watchdog / .microseconds(1))) }
        variables["NOTIFY_SOCKET"] = notifyPath
        return variables
    }

    private func expanded(_ text: String) -> String {
        text.replacing(#/\$\{(SEGUE_[A-Z0-9_]+)\}/#) { match in values[String(match.1)] ?? String(match.0) }
    }
}
