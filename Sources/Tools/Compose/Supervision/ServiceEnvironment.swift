/// The variables a service finds.
struct ServiceEnvironment {
    let project: Project
    let ports: [String: Int]
    /// The supervisor's own.
    let inherited: [String: String]

    /// The supervisor's variables, over them what the project offers, over that what the service's own entry says.
    func variables(for service: Service) -> [String: String] {
        // These would have the service answer to the supervisor's own launcher.
        var variables = inherited.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }
        variables["SEGUE_BUS"] = project.busAddress
        variables["SEGUE_PROJECT"] = project.name
        variables["SEGUE_STATE_DIR"] = project.dataDirectory
        variables["SEGUE_SERVICE"] = service.name
        for (name, port) in ports {
            if let variable = Self.portVariable(name) { variables[variable] = String(port) }
        }
        for (name, value) in service.environment { variables[name] = value }
        variables["NOTIFY_SOCKET"] = project.notifyPath(of: service.name)
        return variables
    }

    /// `SEGUE_PORT_SPOTIFY` for `spotify`; `nil` when the name cannot be made a variable's.
    static func portVariable(_ name: String) -> String? {
        guard name.wholeMatch(of: #/[a-zA-Z0-9][a-zA-Z0-9_-]*/#) != nil else { return nil }
        return "SEGUE_PORT_" + name.uppercased().replacing("-", with: "_")
    }
}
