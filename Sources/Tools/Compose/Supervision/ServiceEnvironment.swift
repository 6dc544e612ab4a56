/// The variables a service finds.
struct ServiceEnvironment {
    /// Those of sd_notify(3) and sd_watchdog_enabled(3): who has them speaks for the process that was given them.
    static let notificationVariables: Set = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    let project: Project
    let offered: OfferedVariables
    /// The supervisor's own.
    let inherited: [String: String]

    /// The supervisor's variables, over them what the project offers, over that what the service's own entry says.
    func variables(for service: Service, instance: String) -> [String: String] {
        // These would have the service answer to the supervisor's own launcher.
        var variables = inherited.filter { !Self.notificationVariables.contains($0.key) }
        for (name, value) in offered.values { variables[name] = value }
        for (name, value) in service.environment { variables[name] = value }
        // Without WATCHDOG_PID, which sd_watchdog_enabled(3) takes for whoever asks: the number is not known before.
        if let watchdog = service.watchdog { variables["WATCHDOG_USEC"] = String(Int64(watchdog / .microseconds(1))) }
        variables["NOTIFY_SOCKET"] = project.notifyPath(of: instance)
        return variables
    }
}
