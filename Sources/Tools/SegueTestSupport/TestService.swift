internal import Compose
internal import Foundation
internal import Support

/// A process of a stack under test.
public struct TestService: Sendable {
    /// The name of the service. The executable has the same name by default.
    public var name: String
    /// The executable and its arguments. The executable is searched for in the folder of the test's executable first,
    /// then in `PATH`.
    public var command: [String]
    public var environment: [String: String]
    /// The services that must be ready before this service starts.
    public var dependencies: [String]
    /// The maximum time between two keep-alive notifications of the process. After a longer time, the supervisor
    /// replaces the process. Nil if no notifications are required.
    public var watchdog: Duration?

    public init(
        _ name: String, command: [String]? = nil, environment: [String: String] = [:], after dependencies: [String] = []
    ) {
        self.name = name
        self.command = command ?? [name]
        self.environment = environment
        self.dependencies = dependencies
    }

    /// The broker of this project, for the bus of a stack.
    public static let broker = TestService("broker")

    /// The description of the service for the supervisor. The supervisor waits until the service is ready. The restart
    /// policy is `always`.
    var service: Service {
        Service(
            name: name, command: command, environment: environment.mapValues { $0 },
            dependencies: dependencies.map { Dependency(on: $0, condition: .healthy) }, restart: .always(),
            readiness: .notify(timeout: nil), watchdog: watchdog)
    }
}

/// The engine of a stack's bus.
public enum TestEngine: Sendable {
    /// The broker of this project.
    case broker
    /// Servers of NATS JetStream, with the broker of this project as their steward.
    /// - Parameters:
    ///   - server: The executable nats-server: a path, or a name to search for in `PATH`.
    ///   - count: The number of servers. Each message is stored on all of them. With one, its service is called `nats`;
    ///     with several, they are called `nats-1`, `nats-2` and so on, and form a cluster.
    case nats(server: String = "nats-server", count: Int = 1)

    /// Adds what the engine needs to a stack of services.
    /// - Parameter directory: The folder for the servers' configuration.
    func complete(_ stack: inout Stack, directory: String) throws {
        guard case .nats(let server, let count) = self else { return }
        let configuration = "\(directory)/nats.conf"
        try Data("max_payload: 9MB\n".utf8).write(to: URL(filePath: configuration))
        let names = count == 1 ? ["nats"] : (1...count).map { "nats-\($0)" }
        stack.ports += names.flatMap { [$0, "\($0)-http", "\($0)-route"] }
        stack.bus = "nats://" + names.map { "127.0.0.1:\(Self.port($0))" }.joined(separator: ",")
        for index in stack.services.indices where stack.services[index].name == TestService.broker.name {
            stack.services[index].dependencies += names.map { Dependency(on: $0, condition: .healthy) }
            stack.services[index].command += ["--replicas", "\(count)"]
        }
        let routes = names.map { "nats://127.0.0.1:\(Self.port("\($0)-route"))" }
        let services = zip(names, routes).map { name, route in
            var health = HealthProbe(command: [], startPeriod: .seconds(30), startInterval: .milliseconds(100))
            health.test = .http("http://127.0.0.1:\(Self.port("\(name)-http"))/healthz")
            var command = [
                server, "-c", configuration, "-n", name, "-a", "127.0.0.1", "-p", Self.port(name), "-m",
                Self.port("\(name)-http"), "-js", "-sd", "${SEGUE_STATE_DIR}/\(name)",
            ]
            if count > 1 {
                command += ["-cluster_name", "test", "-cluster", route, "-routes", routes.joined(separator: ",")]
            }
            return Service(name: name, command: command, restart: .always(), readiness: .probe(health))
        }
        stack.services.insert(contentsOf: services, at: 0)
    }

    /// The variable that has the port with a name in `x-ports`.
    private static func port(_ name: String) -> String {
        "${SEGUE_PORT_\(name.uppercased().replacing(scalars: "-", with: "_"))}"
    }
}
