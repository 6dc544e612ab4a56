internal import Compose

/// One process of a stack under test.
public struct TestService: Sendable {
    /// What the process is called in the stack; its executable has the same name unless `command` says otherwise.
    public var name: String
    /// The executable, looked up beside the test, and its arguments.
    public var command: [String]
    public var environment: [String: String]
    /// The services that must be ready before this one starts.
    public var dependencies: [String]
    /// How often it must say that it lives; nil if nobody asks.
    public var watchdog: Duration?

    public init(
        _ name: String, command: [String]? = nil, environment: [String: String] = [:], after dependencies: [String] = []
    ) {
        self.name = name
        self.command = command ?? [name]
        self.environment = environment
        self.dependencies = dependencies
    }

    /// The broker, which every other process waits for.
    public static let broker = TestService("broker")

    /// As the supervisor takes it: awaited until it says that it is ready, and started again when it dies.
    var service: Service {
        Service(
            name: name, command: command, environment: environment.mapValues { $0 },
            dependencies: dependencies.map { Dependency(on: $0, condition: .healthy) }, restart: .always(),
            readiness: .notify(timeout: nil), watchdog: watchdog)
    }
}
