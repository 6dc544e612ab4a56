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
///         try await stack.document(Document.ErrorBanner.self) { $0.error?.code == "test" }
///     }
///
/// Every method that waits has a deadline, also the start: see ``ObservedBus/deadline``.
public struct TestStack: ObservedBus {
    /// The test's own connection to the bus.
    public let bus: EventBus
    public let busAddress: String
    private let running: StackProcesses
    private var supervisor: Supervisor { running.supervisor }
    private var project: Project { running.project }

    public var transcript: Transcript { running.transcript }
    public var deadline: Duration? { running.deadline }
    public var processes: [ObservedProcess] { running.observed }

    /// Runs processes while `body` runs. The processes are ready before `body` starts, and have ended when this method
    /// returns or throws.
    /// - Parameters:
    ///   - services: The processes. One of them must be ``TestService/broker`` or another broker.
    ///   - engine: The engine of the bus.
    ///   - deadline: The maximum time of each wait. Nil for the default.
    /// - Throws: ``StackFailure``, also for any other error of `body`.
    @discardableResult
    public static func with<Result: Sendable>(
        _ services: [TestService], engine: TestEngine = .broker, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with(
            {
                var stack = Stack(directory: $0, services: services.map(\.service))
                try engine.complete(&stack, directory: $0)
                return stack
            }, deadline: deadline, at: Caller(fileID: fileID, line: line), body)
    }

    /// Runs the stack of a compose file while `body` runs: the processes that `segue up` would start, but with a bus, a
    /// state and ports of their own, so that other stacks may run beside it. The processes are ready before `body`
    /// starts, and have ended when this method returns or throws.
    /// - Parameters:
    ///   - path: The path of the compose file.
    ///   - services: Processes to run beside those of the file.
    ///   - engine: The engine of the bus, if it is not that of the file.
    ///   - deadline: The maximum time of each wait. Nil for the default.
    /// - Throws: ``StackFailure``, also for any other error of `body`, and an error if the file is not valid.
    @discardableResult
    public static func with<Result: Sendable>(
        file path: String, beside services: [TestService] = [], engine: TestEngine = .broker,
        deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with(
            {
                var stack = try ComposeFile(path: path).stack
                stack.services += services.map(\.service)
                try engine.complete(&stack, directory: $0)
                return stack
            }, deadline: deadline, at: Caller(fileID: fileID, line: line), body)
    }

    private static func with<Result: Sendable>(
        _ makeStack: (_ directory: String) throws -> Stack, deadline: Duration?, at caller: Caller,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await ScratchDirectory.with { scratch in
            let project = try Project(
                name: "test", stateRoot: "\(scratch.path)/state", runtimeRoot: "\(scratch.path)/run")
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let supervisor = try Supervisor(
                stack: makeStack(scratch.path), project: project,
                options: SupervisorOptions(backoff: RestartBackoff(initial: .milliseconds(50))), logger: logger)
            let processes = StackProcesses(
                supervisor: supervisor, project: project, deadline: deadline, caller: caller)
            return try await processes.whileUp {
                // The address may contain a port that the supervisor has chosen.
                let address = try project.busAddress
                let bus = try BusFactory.standard.using(keyFile: project.operatorKey).bus(
                    at: address, source: "test/1", logger: logger)
                let stack = TestStack(bus: bus, busAddress: address, running: processes)
                return try await bus.whileOpen { try await stack.whileRecording { try await body(stack) } }
            }
        }
    }

    /// Kills a process with SIGKILL, as a crash or the kernel does when memory runs out, and waits until the supervisor
    /// has started it again and the new process is ready.
    /// - Parameter service: The name of the service in the stack.
    /// - Throws: ``StackFailure`` if the process does not run, or no new one is ready before the deadline.
    public func killAndRestart(
        _ service: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let caller = Caller(fileID: fileID, line: line)
        let status = try status(of: service, at: caller)
        kill(try processID(of: status, at: caller), SIGKILL)
        try await waitUntilReplaced(status, deadline: deadline, caller: caller)
    }

    /// Freezes a process with a ``TestService/watchdog``, and waits until the supervisor has replaced it and the new
    /// process is ready.
    /// - Throws: ``StackFailure`` if the process does not run, or no new one is ready before the deadline.
    public func freezeUntilReplaced(
        _ service: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let caller = Caller(fileID: fileID, line: line)
        let status = try status(of: service, at: caller)
        try await freeze(service, fileID: fileID, line: line)
        try await waitUntilReplaced(status, deadline: deadline, caller: caller)
    }

    private func waitUntilReplaced(_ status: InstanceStatus, deadline: Duration?, caller: Caller) async throws {
        try await running.waitUntil(
            "\(status.name) to be restarted and ready", deadline: deadline, at: caller
        ) { project in
            project[status.name].map { $0.restarts > status.restarts && $0.state == .ready } ?? false
        }
    }

    /// Stops a service, and returns when its process has ended. The supervisor does not restart the service, whatever
    /// its restart policy is.
    public func stop(
        _ service: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await perform(
            .stop(services: [service], grace: nil), what: "\(service) to end", deadline: deadline,
            caller: Caller(fileID: fileID, line: line))
    }

    /// Starts a service that was stopped or has ended, and its dependencies. Returns when they are ready.
    public func start(
        _ service: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await perform(
            .start(services: [service]), what: "\(service) to be ready", deadline: deadline,
            caller: Caller(fileID: fileID, line: line))
    }

    /// Restarts a service and the dependents that declare `restart: true`. Returns when all these services are ready.
    public func restart(
        _ service: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await perform(
            .restart(services: [service], followed: true, grace: nil), what: "\(service) to be restarted and ready",
            deadline: deadline,
            caller: Caller(fileID: fileID, line: line))
    }

    /// Sets the number of processes of a service. The first has the name of the service, the others are called
    /// `name-2`, `name-3` and so on. Returns when the new processes are ready and those that are too many have ended.
    public func scale(
        _ service: String, to count: Int, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await perform(
            .scale([service: count]), what: "\(count) processes of \(service)", deadline: deadline,
            caller: Caller(fileID: fileID, line: line))
    }

    private func perform(
        _ request: ControlRequest, what: String, deadline: Duration?, caller: Caller
    ) async throws {
        let changes = try await supervisor.perform(request)
        try await running.waitUntil(what, deadline: deadline, at: caller) { status in
            let outcomes = changes.map { status.outcome(of: $0) }
            for case .failed(let reason) in outcomes { throw failure("\(reason)", at: caller) }
            return !outcomes.contains(.pending)
        }
    }

    /// Freezes a process with SIGSTOP. The process keeps its sockets, but does not answer.
    public func freeze(_ service: String, fileID: StaticString = #fileID, line: UInt = #line) async throws {
        let pid = try signal(service, signal: SIGSTOP, caller: Caller(fileID: fileID, line: line))
        // A thread may still run for a moment after the signal was sent.
        while !Self.isStopped(pid) { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Continues a frozen process.
    public func thaw(_ service: String, fileID: StaticString = #fileID, line: UInt = #line) throws {
        _ = try signal(service, signal: SIGCONT, caller: Caller(fileID: fileID, line: line))
    }

    /// The port that the supervisor has chosen for a name in `x-ports`.
    public func port(_ name: String, fileID: StaticString = #fileID, line: UInt = #line) throws -> Int {
        guard let port = supervisor.status.ports[name] else {
            throw failure("there is no port '\(name)'", at: Caller(fileID: fileID, line: line))
        }
        return port
    }

    /// The log of a service so far.
    public func log(of service: String) -> String { running.log(of: service) }

    /// The folder in which the services keep their state.
    public var dataDirectory: String { project.dataDirectory }

    private func signal(_ service: String, signal: Int32, caller: Caller) throws -> pid_t {
        let pid = try processID(of: status(of: service, at: caller), at: caller)
        kill(pid, signal)
        return pid
    }

    /// The id of a service's process.
    package func processID(of service: String, fileID: StaticString = #fileID, line: UInt = #line) throws -> Int32 {
        let caller = Caller(fileID: fileID, line: line)
        return try processID(of: status(of: service, at: caller), at: caller)
    }

    private func processID(of status: InstanceStatus, at caller: Caller) throws -> Int32 {
        guard let pid = status.pid else { throw failure("\(status.name) is not running", at: caller) }
        return pid
    }

    /// True if all threads of a process are stopped, according to proc(5). A process that has ended has no threads.
    private static func isStopped(_ pid: pid_t) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)) ?? ""
            return status.isEmpty || status.contains(scalars: ") T ") || status.contains(scalars: ") Z ")
        }
    }

    private func status(of service: String, at caller: Caller) throws -> InstanceStatus {
        guard let status = supervisor.status[service] else {
            throw failure("there is no process '\(service)'", at: caller)
        }
        return status
    }
}
