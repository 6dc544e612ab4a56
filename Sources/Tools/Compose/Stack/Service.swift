import Foundation

/// One service of a stack: what to run, in which surroundings, after whom, and what to do when it ends.
///
/// Command, working directory and environment may refer to what the supervisor offers, as in `${SEGUE_PORT_SPOTIFY}`.
package struct Service: Sendable, Equatable {
    package var name: String
    /// The executable and its arguments. A bare name is looked up beside `segue` first, then in `PATH`.
    package var command: [String]
    /// Absolute, or relative to the stack's folder; `nil` is the stack's folder.
    package var workingDirectory: String?
    /// Added to what the supervisor itself has. `nil` removes a variable.
    package var environment: [String: String?]
    package var dependencies: [Dependency]
    package var restart: RestartPolicy
    /// How long to wait between restarts; `nil` is the supervisor's way.
    package var backoff: RestartBackoff?
    package var readiness: Readiness
    /// Once it is ready, the service must send `WATCHDOG=1` (sd_notify) at least this often, or it counts as hung.
    package var watchdog: Duration?
    /// How many processes of it run beside each other; 0 is none.
    package var replicas: Int
    /// It takes part only when one of these is asked for, or itself by name; without any it always does.
    package var profiles: [String]
    /// What asks the service to stop; after the grace comes `SIGKILL`.
    package var stopSignal: StopSignal
    package var stopGracePeriod: Duration
    package var labels: [String: String]

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

    /// What its processes are called in status, logs, and for sockets: the service's name, or `NAME-1` … `NAME-N`.
    package var instances: [String] {
        replicas == 1 ? [name] : (0..<replicas).map { "\(name)-\($0 + 1)" }
    }

    static let nameRule = "use letters, digits, '.', '_' and '-', beginning with a letter or digit"

    /// The rule of the compose specification, narrowed so that the name also serves as that of a file.
    static func isValid(name: String) -> Bool {
        name.wholeMatch(of: #/[a-zA-Z0-9][a-zA-Z0-9._-]*/#) != nil
    }

    /// Only where there are several do they need numbers.
    func instanceName(_ replica: Int) -> String {
        replicas == 1 && replica == 1 ? name : "\(name)-\(replica)"
    }

    /// What a process of it is started with and watched by: if this changes, a running one is out of date.
    var definition: Service {
        var service = self
        service.replicas = 1
        service.dependencies = []
        service.profiles = []
        return service
    }

    /// The service without its dependencies on what takes no part.
    func depending(onlyOn active: Set<String>) throws(ComposeError) -> Service {
        if let lost = dependencies.first(where: { $0.isRequired && !active.contains($0.service) }) {
            throw ComposeError(
                code: "inactive-dependency",
                message: "service '\(name)' depends on '\(lost.service)', none of whose profiles is active",
                recovery: "name one of them with --profile, or say 'required: false' there")
        }
        var service = self
        service.dependencies.removeAll { !active.contains($0.service) }
        return service
    }

    /// Where it runs.
    ///
    /// - Parameter directory: the stack's.
    /// - Throws: ``ComposeError`` `no-working-directory`.
    func existingDirectory(in directory: String) throws(ComposeError) -> String {
        let path = ComposePath.join(directory, workingDirectory ?? "")
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ComposeError(
                code: "no-working-directory",
                message: "service '\(name)': there is no folder \(path)",
                recovery: "make it, or correct 'working_dir'",
                key: ServiceKey(service: name, name: "working_dir")
            )
        }
        return path
    }
}

/// What must be true of another service before this one starts.
package struct Dependency: Sendable, Hashable {
    /// The conditions of the compose specification, by their names there.
    package enum Condition: String, Sendable, CaseIterable {
        case started = "service_started"
        case healthy = "service_healthy"
        case completed = "service_completed_successfully"
    }

    package var service: String
    package var condition: Condition
    /// If not, the service starts as well when the condition cannot come true any more, with a warning, and without
    /// the other one when that is not part of the run.
    package var isRequired: Bool
    /// Whether this service is restarted when the other one is, on somebody's request.
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

/// How a service tells that it can be used.
package enum Readiness: Sendable, Equatable {
    /// It is as good as it gets once its process runs.
    case started
    /// It sends `READY=1` to `$NOTIFY_SOCKET` (sd_notify) within this time, or the supervisor's usual start timeout.
    case notify(timeout: Duration?)
    /// It is asked again and again, as long as it runs.
    case probe(HealthProbe)
}

/// A command that tells whether a service is healthy: by status 0 it is.
///
/// The names and what stands in for those left out are those of `healthcheck` in the compose specification.
package struct HealthProbe: Sendable, Equatable {
    /// The executable and its arguments, run in the service's folder with the service's variables.
    package var command: [String]
    /// From the end of one run to the beginning of the next.
    package var interval: Duration = .seconds(30)
    /// A run that takes longer has failed.
    package var timeout: Duration = .seconds(30)
    /// So many failed runs in a row make the service unhealthy.
    package var retries = 3
    /// For so long after the start a failed run does not count, unless one has succeeded already.
    package var startPeriod: Duration = .zero
    /// The interval while the start period lasts.
    package var startInterval: Duration = .seconds(5)

    /// After this a service that was never healthy is unhealthy, however slow its checks are.
    var longestStart: Duration {
        startPeriod + startInterval + timeout + (interval + timeout) * min(max(retries, 1), 10_000)
    }
}
