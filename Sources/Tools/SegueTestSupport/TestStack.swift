internal import Compose
public import EventBus
internal import Foundation
internal import Glibc
internal import Logging
internal import Support
internal import Transports

/// The processes of a stack with their bus. Their state and their sockets are in a temporary folder.
///
///     try await TestStack.with([.broker, TestService("error-notifier", after: ["broker"])]) { stack in
///         try await stack.bus.publish(ApplicationError(code: "test", message: "It failed."))
///         try await stack.message(Document.ErrorBanner.self) { $0.error?.code == "test" }
///     }
///
/// A ``StackFailure`` contains the ends of all processes' logs and the last messages of the bus.
public struct TestStack: ObservedBus {
    /// The test's own connection to the bus.
    public let bus: EventBus
    public let busAddress: String
    private let processes: StackProcesses
    private var supervisor: Supervisor { processes.supervisor }
    private var project: Project { processes.project }

    public var transcript: Transcript { processes.transcript }

    /// Runs processes while `body` runs. The processes are ready before `body` starts, and have ended when this method
    /// returns or throws.
    /// - Parameters:
    ///   - services: The processes. One of them must be ``TestService/broker`` or another broker.
    ///   - engine: The engine of the bus.
    /// - Throws: ``StackFailure``.
    public static func with<Result: Sendable>(
        _ services: [TestService], engine: TestEngine = .broker,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with(
            {
                var stack = Stack(directory: $0, services: services.map(\.service))
                try engine.complete(&stack, directory: $0)
                return stack
            }, body)
    }

    /// Runs the stack of a compose file while `body` runs.
    /// - Parameters:
    ///   - services: Processes to run beside those of the file.
    ///   - engine: The engine of the bus, if it is not that of the file.
    /// - Throws: ``StackFailure``, and an error if the file is not valid.
    public static func with<Result: Sendable>(
        file: String, beside services: [TestService] = [], engine: TestEngine = .broker,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with(
            {
                var stack = try ComposeFile(path: file).stack
                stack.services += services.map(\.service)
                try engine.complete(&stack, directory: $0)
                return stack
            }, body)
    }

    private static func with<Result: Sendable>(
        _ makeStack: (_ directory: String) throws -> Stack,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await ScratchDirectory.with { scratch in
            let project = try Project(
                name: "test", stateRoot: "\(scratch.path)/state", runtimeRoot: "\(scratch.path)/run")
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let supervisor = try Supervisor(
                stack: makeStack(scratch.path), project: project,
                options: SupervisorOptions(backoff: RestartBackoff(initial: .milliseconds(50))), logger: logger)
            let processes = StackProcesses(supervisor: supervisor, project: project)
            return try await processes.whileUp {
                // The address may contain a port that the supervisor has chosen.
                let address = try project.busAddress
                let bus = try BusFactory.standard.bus(at: address, source: "test/1", logger: logger)
                let stack = TestStack(bus: bus, busAddress: address, processes: processes)
                return try await bus.whileOpen { try await stack.whileRecording { try await body(stack) } }
            }
        }
    }

    /// Kills a process with SIGKILL, and waits until the supervisor has started it again and the new process is ready.
    public func killAndRestart(_ service: String) async throws {
        let status = try status(of: service)
        guard let pid = status.pid else { throw failure("\(service) is not running") }
        kill(pid, SIGKILL)
        try await isReplaced(status)
    }

    /// Freezes a process with a ``TestService/watchdog``, and waits until the supervisor has replaced it and the new
    /// process is ready.
    public func freezeUntilReplaced(_ service: String) async throws {
        let status = try status(of: service)
        try await freeze(service)
        try await isReplaced(status)
    }

    private func isReplaced(_ status: ServiceStatus) async throws {
        for await project in supervisor.statuses {
            if let new = project[status.name], new.restarts > status.restarts, new.state == .ready { return }
        }
        throw failure("\(status.name) was not restarted")
    }

    /// Stops a service, and returns when its process has ended. The supervisor does not restart the service, whatever
    /// its restart policy is.
    public func stop(_ service: String) async throws {
        try await perform(.stop(services: [service], grace: nil))
    }

    /// Starts a service that was stopped or has ended, and its dependencies. Returns when they are ready.
    public func start(_ service: String) async throws {
        try await perform(.start(services: [service]))
    }

    /// Restarts a service and the dependents that declare `restart: true`. Returns when all these services are ready.
    public func restart(_ service: String) async throws {
        try await perform(.restart(services: [service], followed: true, grace: nil))
    }

    /// Sets the number of processes of a service. The first has the name of the service, the others are called
    /// `name-2`, `name-3` and so on. Returns when the new processes are ready and those that are too many have ended.
    public func scale(_ service: String, to count: Int) async throws {
        try await perform(.scale([service: count]))
    }

    private func perform(_ request: ControlRequest) async throws {
        let changes = try await supervisor.perform(request)
        for await status in supervisor.statuses {
            let outcomes = changes.map { status.outcome(of: $0) }
            for case .failed(let reason) in outcomes { throw failure(reason) }
            if !outcomes.contains(.pending) { return }
        }
        throw failure("the stack ended before the request was done")
    }

    /// Freezes a process with SIGSTOP. The process keeps its sockets, but does not answer.
    public func freeze(_ service: String) async throws {
        let pid = try signal(service, SIGSTOP)
        // A thread may still run for a moment after the signal was sent.
        while !Self.stands(pid) { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Continues a frozen process.
    public func thaw(_ service: String) throws {
        _ = try signal(service, SIGCONT)
    }

    /// The port that the supervisor has chosen for a name in `x-ports`.
    public func port(_ name: String) throws -> Int {
        guard let port = supervisor.status.ports[name] else { throw failure("there is no port '\(name)'") }
        return port
    }

    /// The log of a service so far.
    public func log(of service: String) -> String { processes.log(of: service) }

    /// The folder in which the services keep their state.
    public var dataDirectory: String { project.dataDirectory }

    private func signal(_ service: String, _ signal: Int32) throws -> pid_t {
        let pid = try processID(of: service)
        kill(pid, signal)
        return pid
    }

    /// The id of a service's process.
    package func processID(of service: String) throws -> Int32 {
        guard let pid = try status(of: service).pid else { throw failure("\(service) is not running") }
        return pid
    }

    /// True if all threads of a process are stopped, according to proc(5). A process that has ended has no threads.
    private static func stands(_ pid: pid_t) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)) ?? ""
            return status.isEmpty || status.contains(scalars: ") T ") || status.contains(scalars: ") Z ")
        }
    }

    private func status(of service: String) throws -> ServiceStatus {
        guard let status = supervisor.status[service] else { throw failure("there is no process '\(service)'") }
        return status
    }

    func failure(_ error: any Error) -> StackFailure { processes.failure(error) }

    /// For each process, its state and the last lines of its log. Processes that have ended or were restarted come first.
    public var logs: String { processes.logs }
}

/// The processes of a ``TestStack``, which may not be up yet.
private struct StackProcesses: Sendable {
    let supervisor: Supervisor
    let project: Project
    let transcript = Transcript()

    /// Runs `body` when all processes are ready. Returns when all have ended.
    /// - Throws: ``StackFailure``.
    func whileUp<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { processes in
            processes.addTask { try await supervisor.run() }
            let result: Swift.Result<Result, any Error>
            do {
                try await isUp()
                result = .success(try await body())
            } catch {
                result = .failure(failure(error))
            }
            supervisor.stop()
            do {
                try await processes.waitForAll()
            } catch {
                throw failure(error)
            }
            return try result.get()
        }
    }

    private func isUp() async throws {
        for await status in supervisor.statuses {
            if status.phase == .up { return }
            if status.phase == .stopped { break }
        }
        throw StackFailure("the stack did not come up", logs: logs, messages: transcript.messages)
    }

    func failure(_ error: any Error) -> StackFailure {
        error as? StackFailure ?? StackFailure("\(error)", logs: logs, messages: transcript.messages)
    }

    func log(of service: String) -> String {
        project.writtenLines(of: service).map { $0.text + "\n" }.joined()
    }

    /// The number of lines that are shown of each log.
    private static let lineCount = 100

    var logs: String {
        let services = supervisor.status.services
        let hasEnded = { (service: ServiceStatus) in service.state != .ready || service.restarts > 0 }
        return (services.filter(hasEnded) + services.filter { !hasEnded($0) }).map { service in
            let lines = project.writtenLines(of: service.service)
            let left = max(0, lines.count - Self.lineCount)
            return
                (["== \(service.name) (\(service.state.rawValue), \(service.restarts) restarts)"]
                + (left > 0 ? ["(\(left) earlier lines)"] : [])
                + lines.dropFirst(left).map(\.text.cutForFailure)).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}

/// A temporary folder of one test. Its path is short because it contains sockets.
struct ScratchDirectory {
    let path: String

    static func with<Result>(_ body: (ScratchDirectory) async throws -> Result) async throws -> Result {
        let path = "/tmp/segue-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(ScratchDirectory(path: path))
    }
}
