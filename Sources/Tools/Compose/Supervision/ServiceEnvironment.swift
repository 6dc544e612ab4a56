/// The variables a service finds.
struct ServiceEnvironment {
    let project: Project
    let offered: OfferedVariables
    /// The supervisor's own.
    let inherited: [String: String]

    /// The supervisor's variables, over them what the project offers, over that what the service's own entry says.
    func variables(for service: Service, instance: String) -> [String: String] {
        // These would have the service answer to the supervisor's own launcher.
        var variables = inherited.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }
        for (name, value) in offered.values { variables[name] = value }
        for (name, value) in service.environment { variables[name] = value }
        variables["NOTIFY_SOCKET"] = project.notifyPath(of: instance)
        return variables
    }
}
