import Foundation

/// How a ``Supervisor`` goes about its work.
package struct SupervisorOptions: Sendable {
    /// What the services inherit, and where `PATH` and a launcher's `NOTIFY_SOCKET` are read.
    package var environment: [String: String]
    /// Where bare command names are looked for before `PATH`.
    package var executableDirectory: String?
    /// How long a service may take to become ready, unless it says otherwise.
    package var startTimeout: Duration
    package var backoff: RestartBackoff
    /// How much of each service's output is kept.
    package var logs: LogRetention
    /// How long a service may take to end when it is asked to, whatever it says itself.
    package var stopGrace: Duration?
    /// Whether all is stopped as soon as one service has failed for good.
    package var abortsOnFailure: Bool
    /// Signals to the supervisor's process that ask it to stop: the first orderly, the second at once.
    package var stopSignals: [Int32]

    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        executableDirectory: String? = SupervisorOptions.runningExecutableDirectory,
        startTimeout: Duration = Self.usualStartTimeout,
        backoff: RestartBackoff = RestartBackoff(),
        logs: LogRetention = LogRetention(),
        stopGrace: Duration? = nil,
        abortsOnFailure: Bool = false,
        stopSignals: [Int32] = []
    ) {
        self.environment = environment
        self.executableDirectory = executableDirectory
        self.startTimeout = startTimeout
        self.backoff = backoff
        self.logs = logs
        self.stopGrace = stopGrace
        self.abortsOnFailure = abortsOnFailure
        self.stopSignals = stopSignals
    }

    package static let usualStartTimeout = Duration.seconds(30)

    /// The folder of the executable that runs now.
    package static var runningExecutableDirectory: String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path.map { ($0 as NSString).deletingLastPathComponent }
    }
}
