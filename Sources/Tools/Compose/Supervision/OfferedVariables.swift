import Projects
import Support

/// The variables that the supervisor sets for a service, by name.
///
/// A stack may refer to them, for example as `${SEGUE_PORT_SPOTIFY}`, in commands, working directories, health checks
/// and the values of variables. They are expanded when the service starts.
struct OfferedVariables {
    static let fixedNames: Set = [
        "SEGUE_BUS", KeyFilePlace.variable, "SEGUE_PROJECT", "SEGUE_STATE_DIR", "SEGUE_SERVICE", "SEGUE_REPLICA",
    ]

    /// The variables of sd_notify(3) and sd_watchdog_enabled(3). A process that inherits these variables can send
    /// messages in the name of the process for which they were set.
    static let notificationVariables: Set = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    let values: [String: String]

    /// - Parameters:
    ///   - name: the project's name, if its folders have another name; nil if they have the same name.
    ///   - bus: the address in `x-bus`, which may refer to ports. Nil for the project's own bus.
    ///   - keys: the folder in `x-keys`; nil for a bus without keys.
    ///   - replica: the number of the instance within its service, counted from 1.
    init(
        project: Project, name: String? = nil, bus: String?, keys: String? = nil, ports: [String: Int], service: String,
        replica: Int = 1
    ) {
        var values = [
            "SEGUE_BUS": Self.address(bus, ports: ports) ?? project.ownBusAddress,
            "SEGUE_PROJECT": name ?? project.name,
            "SEGUE_STATE_DIR": project.dataDirectory,
            "SEGUE_SERVICE": service, "SEGUE_REPLICA": String(replica),
        ]
        if let keys { values[KeyFilePlace.variable] = KeyFilePlace.path(of: service, in: keys) }
        values.merge(Self.variables(of: ports)) { $1 }
        self.values = values
    }

    /// The address of `x-bus` with the ports to which it refers.
    static func address(_ bus: String?, ports: [String: Int]) -> String? {
        bus.map { expanded($0, with: variables(of: ports)) }
    }

    private static func variables(of ports: [String: Int]) -> [String: String] {
        Dictionary(ports.compactMap { name, port in portVariable(name).map { ($0, String(port)) } }) { $1 }
    }

    /// The names of the variables that a stack with these `x-ports` may refer to.
    static func names(ports: [String]) -> Set<String> {
        fixedNames.union(ports.compactMap(portVariable))
    }

    /// `SEGUE_PORT_SPOTIFY` for `spotify`; nil if the name cannot be part of a variable's name.
    static func portVariable(_ name: String) -> String? {
        guard name.wholeMatch(of: #/[a-zA-Z0-9][a-zA-Z0-9_-]*/#.byScalar) != nil else { return nil }
        return "SEGUE_PORT_" + name.uppercased().replacing(scalars: "-", with: "_")
    }

    /// The service with every reference to an offered variable expanded.
    ///
    /// A literal `$${SEGUE_BUS}` in the file looks the same here, so it is expanded, too.
    func expanded(_ service: Service) -> Service {
        var service = service
        service.command = service.command.map(expanded)
        service.workingDirectory = service.workingDirectory.map(expanded)
        service.environment = service.environment.mapValues { $0.map(expanded) }
        if case .probe(var probe) = service.readiness {
            probe.test = probe.test.mapTexts(expanded)
            service.readiness = .probe(probe)
        }
        return service
    }

    /// The environment of a service: the supervisor's variables, then the offered variables, then the variables of the
    /// service's entry, then those of sd_notify(3) and the tag. A later value replaces an earlier value.
    ///
    /// - Parameters:
    ///   - inherited: the supervisor's own variables.
    ///   - notifyPath: the socket to which the service sends its sd_notify messages.
    ///   - tag: the tag of the instance.
    func environment(
        of service: Service, inherited: [String: String], notifyPath: String, tag: ProcessTag
    ) -> [String: String] {
        // With the inherited notification variables, the service would send its messages to the supervisor's own
        // launcher; with the inherited key, it would have that of the operator. Credentials and nkeys would be used
        // instead of its own key file.
        var variables = inherited.filter {
            !Self.notificationVariables.contains($0.key) && $0.key != KeyFilePlace.variable
        }
        if values[KeyFilePlace.variable] != nil {
            for name in [KeyFilePlace.credentialsVariable, KeyFilePlace.nkeyVariable] { variables[name] = nil }
        }
        for (name, value) in values { variables[name] = value }
        for (name, value) in service.environment { variables[name] = value }
        // WATCHDOG_PID is left out, because the process id is not known yet. sd_watchdog_enabled(3) then accepts any
        // process.
        if let watchdog = service.watchdog { variables["WATCHDOG_USEC"] = String(Int64(watchdog / .microseconds(1))) }
        variables["NOTIFY_SOCKET"] = notifyPath
        variables[ProcessTag.variable] = tag.text
        return variables
    }

    private func expanded(_ text: String) -> String { Self.expanded(text, with: values) }

    private static func expanded(_ text: String, with values: [String: String]) -> String {
        var (result, rest) = ("", text[...])
        while let (before, reference) = rest.cut(at: "${") {
            let name = Substring(reference.unicodeScalars.prefix { $0.isASCIILetter || $0.isASCIIDigit || $0 == "_" })
            result += before
            if let after = reference[name.endIndex...].removing(prefix: "}"), let value = values[String(name)] {
                result += value
                rest = after
            } else {
                result += "${"
                rest = reference
            }
        }
        return result + rest
    }
}
