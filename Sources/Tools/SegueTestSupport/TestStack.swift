internal import Compose
public import EventBus
internal import Foundation
internal import Glibc
internal import Logging
internal import Transports

/// Real processes on a real bus, in a folder of the test's own.
///
///     try await TestStack.with([.broker, TestService("error-notifier", after: ["broker"])]) { stack in
///         try await stack.bus.publish(ApplicationError(code: "test", message: "It failed."))
///         try await stack.message(Document.ErrorBanner.self) { $0.error?.code == "test" }
///     }
///
/// What goes wrong inside is thrown with every process's log and all messages of the bus.
public struct TestStack: Sendable {
    /// A connection of the test itself.
    public let bus: any EventBus
    private let supervisor: Supervisor
    private let project: Project
    private let transcript = Transcript()

    /// How long anything is waited for, unless said. A working test comes nowhere near it.
    public static let deadline: Duration = .seconds(60)

    /// Runs processes for as long as `body` does. They are ready before it begins and gone when this returns.
    /// - Parameter services: one of them must be ``TestService/broker``, or something else that serves the bus.
    /// - Throws: ``StackFailure``.
    public static func with<Result: Sendable>(
        _ services: [TestService], _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with({ Stack(directory: $0, services: services.map(\.service)) }, body)
    }

    /// Runs the stack of a compose file for as long as `body` does.
    /// - Throws: ``StackFailure``; what is wrong with the file.
    public static func with<Result: Sendable>(
        file: String, _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with({ _ in try ComposeFile(path: file).stack }, body)
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
            let bus = try BusFactory.standard.bus(at: project.busAddress, source: "test/1", logger: logger)
            return try await TestStack(bus: bus, supervisor: supervisor, project: project).run(body)
        }
    }

    private func run<Result: Sendable>(
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { processes in
            processes.addTask { try await supervisor.run() }
            let result: Swift.Result<Result, any Error>
            do {
                try await isUp()
                result = .success(try await withRecording { try await body(self) })
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

    /// Runs `body` with the bus connected and everything on it recorded.
    private func withRecording<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await bus.whileOpen {
            try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                        for try await message in messages { transcript.append(message) }
                    }
                    return nil
                }
                group.addTask { try await body() }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                throw CancellationError()
            }
        }
    }

    private func isUp() async throws {
        for await status in supervisor.statuses {
            if status.phase == .up { return }
            if status.phase == .stopped { break }
        }
        throw failure("the stack did not come up")
    }

    /// Waits for a message that fits. One that came before the call counts, unless it came before `mark`.
    /// - Parameter mark: only what was journalled behind this message is looked at.
    /// - Returns: the first that fits, with its envelope.
    /// - Throws: ``StackFailure`` when none comes before the deadline.
    @discardableResult
    public func message<M: Message>(
        _ type: M.Type, after mark: Envelope? = nil, subject: String? = nil, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (M) -> Bool = { _ in true }
    ) async throws -> (message: M, envelope: Envelope) {
        let start = mark?.position?.offset ?? 0
        return try await within(deadline, "no \(M.type) that fits came") {
            try await transcript.first { messages in
                for envelope in messages where envelope.type == M.type && (envelope.position?.offset ?? 0) > start {
                    guard subject == nil || envelope.subject == subject, !envelope.isTombstone else { continue }
                    let message = try envelope.decode(M.self)
                    if fits(message) { return (message, envelope) }
                }
                return nil
            }
        }
    }

    /// Waits until the last document of its key fits.
    /// - Throws: ``StackFailure`` when it does not before the deadline.
    @discardableResult
    public func document<D: DocumentMessage>(
        _ type: D.Type, key: String? = nil, subject: String = Session.default, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (D) -> Bool
    ) async throws -> D {
        try await within(deadline, "\(D.type) \(key ?? "") does not fit") {
            try await transcript.first { messages in
                let last = messages.last {
                    $0.type == D.type && $0.subject == subject && $0.attributes.key == key
                }
                guard let last, !last.isTombstone else { return nil }
                let document = try last.decode(D.self)
                return fits(document) ? document : nil
            }
        }
    }

    /// Waits until the messages so far fit.
    /// - Parameter what: named in the failure.
    public func until(
        _ what: String, deadline: Duration = Self.deadline, _ fit: @escaping @Sendable ([Envelope]) -> Bool
    ) async throws {
        try await within(deadline, "it did not come true that \(what)") {
            try await transcript.first { fit($0) ? () : nil }
        }
    }

    /// All messages so far.
    public var messages: [Envelope] { transcript.messages }

    private func within<Result: Sendable>(
        _ deadline: Duration, _ failure: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: deadline)
                throw self.failure("\(failure) within \(deadline)")
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// Kills a process without warning, and waits until the supervisor has its successor ready.
    public func killAndRestart(_ service: String) async throws {
        let status = try status(of: service)
        guard let pid = status.pid else { throw failure("\(service) does not run") }
        kill(pid, SIGKILL)
        try await isReplaced(status)
    }

    /// Stops a process where it stands, and waits until the supervisor has found out and has its successor ready.
    public func freezeUntilReplaced(_ service: String) async throws {
        let status = try status(of: service)
        try await freeze(service)
        try await isReplaced(status)
    }

    private func isReplaced(_ status: ServiceStatus) async throws {
        for await project in supervisor.statuses {
            if let new = project[status.name], new.restarts > status.restarts, new.state == .ready { return }
        }
        throw failure("\(status.name) did not come back")
    }

    /// Stops a service, which then stays stopped whatever its restart policy; returns when its process is gone.
    public func stop(_ service: String) async throws {
        try await perform(.stop(services: [service], grace: nil))
    }

    /// Starts a service that was stopped or has ended; returns when it is ready.
    public func start(_ service: String) async throws {
        try await perform(.start(services: [service]))
    }

    /// Restarts a service in an orderly way, with the dependents that want that; returns when all are ready.
    public func restart(_ service: String) async throws {
        try await perform(.restart(services: [service], followed: true, grace: nil))
    }

    private func perform(_ request: ControlRequest) async throws {
        let changes = try supervisor.perform(request)
        for await status in supervisor.statuses {
            let outcomes = changes.map { status.outcome(of: $0) }
            for case .failed(let reason) in outcomes { throw failure(reason) }
            if !outcomes.contains(.pending) { return }
        }
        throw failure("the stack ended meanwhile")
    }

    /// Stops a process where it stands; it keeps its sockets and answers nobody.
    public func freeze(_ service: String) async throws {
        let pid = try signal(service, SIGSTOP)
        // A thread that runs stands only when it next enters the kernel: until then it may answer.
        while !Self.stands(pid) { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Lets a frozen process go on.
    public func thaw(_ service: String) throws {
        _ = try signal(service, SIGCONT)
    }

    /// The port that the supervisor picked for a name in `x-ports`.
    public func port(_ name: String) throws -> Int {
        guard let port = supervisor.status.ports[name] else { throw failure("no port is called \(name)") }
        return port
    }

    /// What a process has logged so far.
    public func log(of service: String) -> String {
        project.writtenLines(of: service).map { $0.text + "\n" }.joined()
    }

    /// Where the services keep their state.
    public var dataDirectory: String { project.dataDirectory }

    /// Where the bus is.
    public var busAddress: String { project.busAddress }

    private func signal(_ service: String, _ signal: Int32) throws -> pid_t {
        guard let pid = try status(of: service).pid else { throw failure("\(service) does not run") }
        kill(pid, signal)
        return pid
    }

    /// Whether no thread of a process runs, as proc(5) tells; one that has ended has none.
    private static func stands(_ pid: pid_t) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)) ?? ""
            return status.isEmpty || status.contains(") T ") || status.contains(") Z ")
        }
    }

    private func status(of service: String) throws -> ServiceStatus {
        guard let status = supervisor.status[service] else { throw failure("no process is called \(service)") }
        return status
    }

    func failure(_ error: any Error) -> StackFailure {
        error as? StackFailure ?? failure("\(error)")
    }

    func failure(_ reason: String) -> StackFailure {
        let logs = supervisor.status.services.map { "== \($0.name) (\($0.state.rawValue))\n\(log(of: $0.service))" }
        let transcript = messages.map { message in
            let attributes = message.attributes
            return "\(message.position?.offset ?? 0) \(message.type) \(attributes.source) \(attributes.platform ?? "-")"
                + " → \(String(decoding: message.data, as: UTF8.self))"
        }
        return StackFailure(reason, logs: logs.joined(separator: "\n"), transcript: transcript.joined(separator: "\n"))
    }
}

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

/// Why a test of a stack failed, with all that the processes and the bus had to say.
public struct StackFailure: Error, CustomStringConvertible {
    public let description: String

    /// One line: what was awaited or what went wrong.
    public let reason: String

    init(_ reason: String, logs: String, transcript: String) {
        self.reason = reason
        description = """
            \(reason)

            --- The bus ---
            \(transcript)

            --- The processes ---
            \(logs)
            """
    }
}

/// A folder of one test's own: short, because sockets lie in it, and gone with the test.
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
