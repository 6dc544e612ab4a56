internal import Compose
internal import Foundation

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
    /// A server of NATS JetStream, with the broker of this project as its steward.
    /// - Parameter server: The executable nats-server: a path, or a name to search for in `PATH`.
    case nats(server: String = "nats-server")

    /// Adds what the engine needs to a stack of services.
    /// - Parameter directory: The folder for the server's configuration.
    func complete(_ stack: inout Stack, directory: String) throws {
        guard case .nats(let server) = self else { return }
        let configuration = "\(directory)/nats.conf"
        try Data("max_payload: 9MB\n".utf8).write(to: URL(filePath: configuration))
        stack.ports += ["nats", "nats-http"]
        stack.bus = "nats://127.0.0.1:${SEGUE_PORT_NATS}"
        for index in stack.services.indices where stack.services[index].name == TestService.broker.name {
            stack.services[index].dependencies.append(Dependency(on: "nats", condition: .healthy))
        }
        var health = HealthProbe(command: [], startPeriod: .seconds(30), startInterval: .milliseconds(100))
        health.test = .http("http://127.0.0.1:${SEGUE_PORT_NATS_HTTP}/healthz")
        let command = [
            server, "-c", configuration, "-a", "127.0.0.1", "-p", "${SEGUE_PORT_NATS}", "-m", "${SEGUE_PORT_NATS_HTTP}",
            "-js", "-sd", "${SEGUE_STATE_DIR}/nats",
        ]
        stack.services.insert(
            Service(name: "nats", command: command, restart: .always(), readiness: .probe(health)), at: 0)
    }
}
