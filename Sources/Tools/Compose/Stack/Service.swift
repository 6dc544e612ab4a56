import Foundation
import Support

/// A service of a stack: its command, its environment, its dependencies, and what happens when it ends.
///
/// The command, the working directory and the environment may refer to variables that the supervisor sets, such as
/// `${SEGUE_PORT_SPOTIFY}`.
package struct Service: Sendable, Equatable {
    package var name: String
    /// The executable and its arguments. A bare name is searched for beside `segue` first, then in `PATH`.
    package var command: [String]
    /// Absolute, or relative to the stack's folder; nil for the stack's folder. A path that begins with
    /// ``stateDirectory`` is absolute when the service starts.
    package var workingDirectory: String?
    /// Variables that are added to the supervisor's own variables. A nil value removes a variable.
    package var environment: [String: String?]
    package var dependencies: [Dependency]
    package var restart: RestartPolicy
    /// The pauses between restarts; nil for the supervisor's default.
    package var backoff: RestartBackoff?
    package var readiness: Readiness
    /// The maximum time between two messages `WATCHDOG=1` (sd_notify(3)) of a service that is ready or running. After a
    /// longer time, the service counts as hung. Nil to expect no messages.
    package var watchdog: Duration?
    /// The number of instances that run side by side. It can be 0.
    package var replicas: Int
    /// The names of the service's profiles. If there are any, the service takes part in a run only if one of them is
    /// active or if the run names the service.
    package var profiles: [String]
    /// The signal that asks the service to stop. If the service has not ended after the grace period, it is sent
    /// `SIGKILL`.
    package var stopSignal: StopSignal
    package var stopGracePeriod: Duration
    package var labels: [String: String]
    /// The absolute paths of the files and folders that the service's processes read when they start: its env files and
    /// those of `develop.watch`. If one has changed, `up` restarts the service.
    package var watchedPaths: [String] = []
    /// The reason why the service cannot be started; nil if there is none.
    var obstacle: ComposeError?

    package init(
        name: String,
        command: [String],
        workingDirectory: String? = nil,
        environment: [String: String?] = [:],
        dependencies: [Dependency] = [],
        restart: RestartPolicy = .no,
        backoff: RestartBackoff? = nil,
        readiness: Readiness = .started,
        watchdog: Duration? = nil,
        replicas: Int = 1,
        profiles: [String] = [],
        stopSignal: StopSignal = .terminate,
        stopGracePeriod: Duration = .seconds(10),
        labels: [String: String] = [:]
    ) {
        self.name = name
        self.command = command
        self.workingDirectory = workingDirectory
        self.environment = environment
        self.dependencies = dependencies
        self.restart = restart
        self.backoff = backoff
        self.readiness = readiness
        self.watchdog = watchdog
        self.replicas = replicas
        self.profiles = profiles
        self.stopSignal = stopSignal
        self.stopGracePeriod = stopGracePeriod
        self.labels = labels
    }

    /// The names of the service's instances in status, logs and sockets: the service's name, or `NAME-1` … `NAME-N`.
    package var instances: [String] {
        replicas == 1 ? [name] : (0..<replicas).map { "\(name)-\($0 + 1)" }
    }

    /// The name of an instance: the service's name for the first instance of a service with one replica, otherwise
    /// `NAME-NUMBER`.
    func instanceName(_ replica: Int) -> String {
        replicas == 1 && replica == 1 ? name : "\(name)-\(replica)"
    }

    /// The service without its number of instances, dependencies and profiles. If this part changes, running processes
    /// are out of date.
    var definition: Service {
        var service = self
        service.replicas = 1
        service.dependencies = []
        service.profiles = []
        return service
    }

    /// The service without its dependencies on services that are not active.
    ///
    /// - Throws: ``ComposeError`` `inactive-dependency` if a required dependency is not active;
    ///   `service-environment-file` if a required env file cannot be read.
    func depending(onlyOn active: Set<String>) throws(ComposeError) -> Service {
        if let obstacle { throw obstacle }
        if let lost = dependencies.first(where: { $0.isRequired && !active.contains($0.service) }) {
            throw ComposeError(
                code: "inactive-dependency",
                message: "service '\(name)' depends on '\(lost.service)', which has no active profile",
                recovery: "activate one of its profiles with --profile, or write 'required: false'")
        }
        var service = self
        service.dependencies.removeAll { !active.contains($0.service) }
        return service
    }

    /// The variable with the project's state folder, as a working directory contains it before the service starts.
    static let stateDirectory = "${SEGUE_STATE_DIR}"

    /// The service with a working directory that does not depend on the stack's folder.
    ///
    /// - Parameter directory: the stack's folder.
    func anchored(in directory: String) -> Service {
        let path = workingDirectory ?? directory
        let isAbsolute = path.begins(with: "/") || path.begins(with: Self.stateDirectory)
        var service = self
        service.workingDirectory = isAbsolute ? path : "\(directory)/\(path)"
        return service
    }

    /// The absolute path of a file that the command names. A working directory in the project's state is known only when
    /// the service starts; the stack's folder is used instead.
    ///
    /// - Parameters:
    ///   - path: the path; empty for the folder in which the service runs.
    ///   - directory: the stack's folder.
    package func absolutePath(of path: String, in directory: String) -> String {
        let folder = workingDirectory.flatMap { $0.begins(with: Self.stateDirectory) ? nil : $0 } ?? ""
        return ComposePath.join(ComposePath.join(directory, folder), path)
    }

    /// The absolute path of the folder in which the service runs.
    ///
    /// - Parameter directory: the stack's folder.
    /// - Throws: ``ComposeError`` `no-working-directory`.
    func existingDirectory(in directory: String) throws(ComposeError) -> String {
        let path = ComposePath.join(directory, workingDirectory ?? "")
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ComposeError(
                code: "no-working-directory",
                message: "service '\(name)': there is no folder \(path)",
                recovery: "create it, or correct 'working_dir'",
                key: ServiceKey(service: name, name: "working_dir")
            )
        }
        return path
    }
}

/// A condition that another service must meet before a service starts.
package struct Dependency: Sendable, Hashable {
    /// The conditions of the compose specification, by their names there.
    package enum Condition: String, Sendable, CaseIterable {
        case started = "service_started"
        case healthy = "service_healthy"
        case completed = "service_completed_successfully"
    }

    package var service: String
    package var condition: Condition
    /// If false, the service also starts if the condition can no longer be met, or if the other service does not take
    /// part in the run. In the first case, a warning is logged.
    package var isRequired: Bool
    /// True if this service is restarted when a request restarts the other service and its dependents.
    package var restarts: Bool

    package init(
        on service: String, condition: Condition = .started, isRequired: Bool = true, restarts: Bool = false
    ) {
        self.service = service
        self.condition = condition
        self.isRequired = isRequired
        self.restarts = restarts
    }
}

/// The way in which a service becomes ready.
package enum Readiness: Sendable, Equatable {
    /// The service is ready when its process runs. But if another service requires it to be healthy, it is ready when
    /// it sends `READY=1`.
    case started
    /// The service must send `READY=1` to `$NOTIFY_SOCKET` (sd_notify(3)) within this time; nil for the supervisor's
    /// start timeout.
    case notify(timeout: Duration?)
    /// The service is ready when a check succeeds. Checks are repeated as long as the service runs.
    case probe(HealthProbe)
}

/// A test of a service that is repeated while it runs.
///
/// The times and the number of retries mean the same as in `healthcheck` of the compose specification.
package struct HealthProbe: Sendable, Equatable {
    package enum Test: Sendable, Equatable {
        /// The executable and its arguments, run in the service's folder with the service's variables, except those of
        /// sd_notify(3). The service is healthy if the command ends with exit status 0.
        case command([String])
        /// A URL. The service is healthy if the status of the answer to `GET` is 200 to 399.
        case http(String)
        /// HOST:PORT. The service is healthy if it accepts a connection.
        case tcp(String)

        /// The test with each of its texts changed.
        func mapTexts(_ change: (String) -> String) -> Test {
            switch self {
            case .command(let words): .command(words.map(change))
            case .http(let url): .http(change(url))
            case .tcp(let address): .tcp(change(address))
            }
        }
    }

    package var test: Test
    /// The time from the end of one check to the beginning of the next.
    package var interval: Duration
    /// The maximum time of a check. A longer check is ended and counts as failed.
    package var timeout: Duration
    /// The number of failed checks in a row that makes the service unhealthy.
    package var retries: Int
    /// The time after the start in which failed checks do not count. After a check has succeeded, they count even
    /// within this time.
    package var startPeriod: Duration
    /// The interval in the start period until a check has succeeded.
    package var startInterval: Duration

    package init(
        command: [String], interval: Duration = .seconds(30), timeout: Duration = .seconds(30), retries: Int = 3,
        startPeriod: Duration = .zero, startInterval: Duration = .seconds(5)
    ) {
        test = .command(command)
        self.interval = interval
        self.timeout = timeout
        self.retries = retries
        self.startPeriod = startPeriod
        self.startInterval = startInterval
    }

    /// The maximum time until a service that never becomes healthy is unhealthy. More than 10000 retries count as
    /// 10000.
    var longestStart: Duration {
        startPeriod + startInterval + timeout + (interval + timeout) * min(max(retries, 1), 10_000)
    }
}
