import Support

/// A set of services that are started, watched and stopped together.
///
/// A stack is read from a compose file by ``ComposeFile``, or built in code.
package struct Stack: Sendable, Equatable {
    /// The project name that the file sets; nil if it sets none.
    package var name: String?
    /// The folder in which relative working directories start.
    package var directory: String
    /// The services, in the order of the file.
    package var services: [Service]
    /// Names from `x-ports`; the supervisor picks a free loopback port for each.
    package var ports: [String]
    /// The address in `x-bus`, which may refer to ports. Nil for the bus of the project.
    package var bus: String?
    /// The absolute path of the folder in `x-keys`, with the key file of each service. Nil for a bus without keys.
    package var keys: String?
    /// The commands in `x-clients`: programs that users start themselves. The supervisor does not start them; their
    /// messages are part of the app's contract.
    package var clients: [[String]]

    package init(
        name: String? = nil, directory: String, services: [Service], ports: [String] = [], bus: String? = nil,
        keys: String? = nil, clients: [[String]] = []
    ) {
        self.name = name
        self.directory = directory
        self.services = services
        self.ports = ports
        self.bus = bus
        self.keys = keys
        self.clients = clients
    }

    /// True if the supervisor waits until this service is ready: because it has a health check or announces itself, or
    /// because another service requires it to be healthy.
    func awaitsReadiness(of service: Service) -> Bool {
        service.readiness != .started
            || services.contains { $0.dependencies.contains { $0.service == service.name && $0.condition == .healthy } }
    }

    /// The part of the stack that takes part in a run.
    ///
    /// - Parameters:
    ///   - names: the services to run, together with their dependencies; empty for all.
    ///   - profiles: the active profiles; `*` activates all. The profiles of the named services are active, too.
    /// - Throws: ``ComposeError`` `unknown-service`; `inactive-dependency` if a service requires a service that has no
    ///   active profile.
    package func selecting(_ names: [String] = [], profiles: some Sequence<String> = []) throws(ComposeError) -> Stack {
        let known = Set(services.map(\.name))
        if let unknown = names.first(where: { !known.contains($0) }) {
            let recovery = Spelling.suggestion(for: unknown, among: known)
            throw ComposeError(
                code: "unknown-service", message: "there is no service '\(unknown)'",
                recovery: recovery ?? "the services are \(known.sorted().joined(separator: ", "))")
        }
        let implied = services.filter { names.contains($0.name) }.flatMap(\.profiles)
        let active = services(active: Set(profiles).union(implied))
        var selected = self
        selected.services = try services.filter { active.contains($0.name) }
            .map { service throws(ComposeError) in try service.depending(onlyOn: active) }
        guard !names.isEmpty else { return selected }
        let needed = DependencyGraph(selected.services).closure(of: names)
        selected.services.removeAll { !needed.contains($0.name) }
        return selected
    }

    /// The name that stands for all profiles.
    private static let everyProfile = "*"

    private func services(active profiles: Set<String>) -> Set<String> {
        let active = services.filter { service in
            service.profiles.isEmpty || profiles.contains(Self.everyProfile)
                || !profiles.isDisjoint(with: service.profiles)
        }
        return Set(active.map(\.name))
    }

    /// Checks the stack, which may have been built in code.
    ///
    /// - Throws: ``ComposeError`` `invalid-stack` for the first mistake.
    package func validate() throws(ComposeError) {
        for service in services {
            guard ServiceName.isValid(service.name) else {
                throw invalid("'\(service.name)' is not a service name", ServiceName.rule)
            }
            guard service.command.first?.isEmpty == false else {
                throw invalid("service '\(service.name)' has no command", nil)
            }
        }
        let names = Set(services.map(\.name))
        guard names.count == services.count else { throw invalid("two services have the same name", nil) }
        if let name = ambiguousInstance {
            throw invalid("two services have an instance called '\(name)'", "rename one of the services")
        }
        if let port = ports.first(where: { OfferedVariables.portVariable($0) == nil }) {
            throw invalid("'\(port)' is not a valid port name", "use letters, digits, '-' and '_'")
        }
        if let problem = DependencyGraph(services).problem(known: names) {
            throw invalid(problem.message, problem.recovery)
        }
    }

    /// A name that two instances have; nil if there is none.
    private var ambiguousInstance: String? {
        var seen: Set<String> = []
        return services.flatMap(\.instances).first { !seen.insert($0).inserted }
    }

    private func invalid(_ message: String, _ recovery: String?) -> ComposeError {
        ComposeError(code: "invalid-stack", message: message, recovery: recovery)
    }
}
