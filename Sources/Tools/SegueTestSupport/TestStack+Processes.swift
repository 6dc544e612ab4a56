internal import Compose
internal import EventBus
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#endif

extension TestStack {
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
