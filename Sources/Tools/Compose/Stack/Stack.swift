/// A set of services that are started, watched and stopped together.
///
/// Read from a compose file by ``ComposeFile``, or built in code.
package struct Stack: Sendable, Equatable {
    /// The name the file gives its project, if it does.
    package var name: String?
    /// The folder that relative working directories start from.
    package var directory: String
    /// In the order of the file.
    package var services: [Service]
    /// Names from `x-ports`; the supervisor picks a free loopback port for each.
    package var ports: [String]
    /// From `x-clients`: the commands of programs that people start beside the services. Nobody starts them here; they
    /// are part of what the app is.
    package var clients: [[String]]

    package init(
        name: String? = nil, directory: String, services: [Service], ports: [String] = [], clients: [[String]] = []
    ) {
        self.name = name
        self.directory = directory
        self.services = services
        self.ports = ports
        self.clients = clients
    }

    /// Whether the supervisor waits for this service's `READY=1`: because it says that it announces itself, or because
    /// another service depends on its being healthy.
    package func awaitsReadiness(of service: Service) -> Bool {
        service.readiness != .started
            || services.contains { $0.dependencies.contains { $0.service == service.name && $0.condition == .healthy } }
    }

    /// The names of the services that depend on this one, which must be gone before it may stop.
    func dependents(of name: String) -> Set<String> {
        Set(services.filter { $0.dependencies.contains { $0.service == name } }.map(\.name))
    }
}
