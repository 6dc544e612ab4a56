import Foundation
import Glibc
import Logging
import Projects
import SystemSupport

/// A stack's place on this machine: its name, and where its state and its sockets lie.
///
/// Projects with different names run beside each other and share nothing.
package struct Project: Sendable, Hashable {
    package let name: String
    /// What outlives a run: status, lock, logs, the services' data.
    let stateDirectory: String
    /// What a run needs and leaves nothing of: sockets.
    let runtimeDirectory: String

    /// The usual places: `$XDG_STATE_HOME/segue/NAME` and `$XDG_RUNTIME_DIR/segue/NAME`.
    ///
    /// - Throws: ``ComposeError`` when the name or one of the folders will not do.
    package init(
        name: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
        try self.init(
            name: name,
            stateRoot: "\(state)/segue",
            runtimeRoot: ProjectPlace.runtimeRoot(environment: environment)
        )
    }

    /// - Parameters:
    ///   - stateRoot: the folder of all projects' state, absolute.
    ///   - runtimeRoot: the folder of all projects' sockets, absolute and short: a socket's path has at most 107 bytes.
    package init(name: String, stateRoot: String, runtimeRoot: String) throws(ComposeError) {
        self.name = try ProjectName.resolve(flag: name, directory: "")
        stateDirectory = "\(stateRoot)/\(name)"
        runtimeDirectory = "\(runtimeRoot)/\(name)"
    }

    /// Where the bus of this project is: `ipc://` and the folder that the broker makes its sockets in.
    package var busAddress: String { ProjectPlace.busAddress(runtimeDirectory: runtimeDirectory) }
    package var dataDirectory: String { "\(stateDirectory)/data" }
    var logDirectory: String { "\(stateDirectory)/logs" }
    var eventDirectory: String { "\(stateDirectory)/events" }
    /// What a detached supervisor itself has to say.
    var supervisorLogPath: String { "\(stateDirectory)/supervisor.log" }

    /// The stack as it was last asked for, resolved.
    private var stackPath: String { "\(stateDirectory)/stack.yaml" }

    var statusPath: String { "\(stateDirectory)/supervisor.json" }
    private var lockPath: String { "\(stateDirectory)/lock" }

    /// Where the supervisor takes requests.
    var controlPath: String { "\(runtimeDirectory)/control" }

    /// What a launcher's process id follows: beside the folder, which the supervisor empties. No name has a dot in it.
    var launchSocketPrefix: String { "\(runtimeDirectory).launch-" }

    func notifyPath(of service: String) -> String { "\(runtimeDirectory)/notify/\(service)" }

    /// - Throws: ``ComposeError`` `socket-path-too-long`.
    func checkSocketPaths(services: [String]) throws(ComposeError) {
        for path in services.map(notifyPath) + [controlPath, "\(runtimeDirectory)/bus/ingress"] {
            guard path.utf8.count <= UnixAddress.longestPath else { throw .socketPathTooLong(path) }
        }
    }

    /// - Throws: ``ComposeError`` `socket-path-too-long`, `socket`.
    func notifySocket(at path: String) throws(ComposeError) -> NotifySocket {
        do {
            return try NotifySocket(path: path)
        } catch {
            throw .socket(error)
        }
    }

    /// Makes the folders; those that hold sockets and state are for this user alone.
    func prepare(services: [String]) throws(ComposeError) {
        try checkSocketPaths(services: services)
        // The folder above counts too: whoever owns it could put another one in the place of ours.
        let runtimeRoot = (runtimeDirectory as NSString).deletingLastPathComponent
        let runtime = [runtimeRoot, runtimeDirectory, "\(runtimeDirectory)/notify"]
        for path in [stateDirectory, dataDirectory, logDirectory, eventDirectory] + runtime {
            try PrivateDirectory.make(path)
        }
    }

    /// Held by the one supervisor of the project, or who does its work.
    ///
    /// - Returns: `nil` when another process holds it.
    func lock() throws(ComposeError) -> FileLock? {
        try PrivateDirectory.make(stateDirectory)
        do {
            return try FileLock.acquire(lockPath)
        } catch {
            throw ComposeError(code: "lock", message: "cannot open \(error)")
        }
    }

    /// Removes every socket; only while no process of this project runs.
    func removeRuntimeDirectory() {
        try? FileManager.default.removeItem(atPath: runtimeDirectory)
        let folder = (runtimeDirectory as NSString).deletingLastPathComponent
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = "\(folder)/\(entry)"
            guard path.hasPrefix(launchSocketPrefix), let pid = pid_t(path.dropFirst(launchSocketPrefix.count)) else {
                continue
            }
            // A launcher that was killed could not remove its own.
            if ProcessTable.entry(of: pid) == nil { unlink(path) }
        }
    }

    /// Those that have been started on this machine by this user and not been forgotten since, by name.
    package static func all(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) -> [Project] {
        // Any name tells the folder of all.
        let root = (try Project(name: "any", environment: environment).stateDirectory as NSString)
            .deletingLastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.sorted().compactMap { name in
            guard let project = try? Project(name: name, environment: environment) else { return nil }
            return FileManager.default.fileExists(atPath: project.statusPath) ? project : nil
        }
    }

    /// Returns when the supervisor that runs now, if any, has ended.
    package func supervisorHasEnded() async throws(ComposeError) {
        try await ProjectStatus.read(self)?.supervisor.open()?.waitForExit()
    }

    /// Keeps the stack for whoever starts the project again without its file.
    ///
    /// It may hold secrets.
    func save(_ stack: Stack) throws(ComposeError) {
        do {
            try AtomicFile(stackPath).replace(with: Data(stack.text.utf8))
        } catch {
            let reason = (error as? SystemError)?.reason ?? "\(error)"
            throw ComposeError(code: "stack-file", message: "cannot write \(stackPath): \(reason)")
        }
    }

    /// The stack as it was last asked for; `nil` when the project was never started here.
    ///
    /// - Throws: ``ComposeError`` `stack-file`.
    package func savedStack() throws(ComposeError) -> Stack? {
        guard FileManager.default.fileExists(atPath: stackPath) else { return nil }
        do {
            return try Stack(text: String(contentsOfFile: stackPath, encoding: .utf8))
        } catch {
            throw ComposeError(
                code: "stack-file", message: "cannot read the stack in \(stackPath)",
                recovery: "start the project with 'segue up'")
        }
    }

    /// The services that were wanted when a supervisor last wrote it down, for one that takes its place.
    ///
    /// - Parameter services: those that are wanted in any case.
    package func lastSelection(adding services: [String] = []) throws(ComposeError) -> Selection {
        let last = try ProjectStatus.read(self)?.services ?? []
        let named = last.filter { services.contains($0.name) }.map(\.service)
        let wanted = last.filter(\.order.isWanted).map(\.service)
        // Of an instance's name only its service is known to a new supervisor.
        let known = services.filter { name in !last.contains { $0.name == name && $0.service != name } }
        return Selection(Set(wanted + named + known).sorted())
    }

    /// Takes the project down from another process; returns when none of its processes is left.
    ///
    /// - Parameter timeout: how long all may take; after that the supervisor is killed, and what it leaves.
    /// - Returns: whether anything was running.
    /// - Throws: ``ComposeError`` `supervisor-unknown` when someone holds the lock who cannot be found.
    @discardableResult
    package func stop(timeout: Duration = .seconds(60)) async throws -> Bool {
        let deadline = ContinuousClock.now + timeout
        var wasRunning = false
        while true {
            try Task.checkCancellation()
            if let lock = try lock() {
                let left = try await stopLeftovers(holding: lock, until: deadline)
                return wasRunning || left
            }
            wasRunning = true
            if let supervisor = try ProjectStatus.read(self)?.supervisor.open() {
                await stop(supervisor, until: deadline)
            } else {
                // One that has just started holds the lock before it has written its name down.
                try checkPatience(until: deadline)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Ends what a killed supervisor left of some services; returns when none of their processes is left.
    ///
    /// - Returns: whether there was any.
    /// - Throws: ``ComposeError`` `already-running` when there is a supervisor again.
    package func stopUnsupervised(_ services: [String], grace: Duration?) async throws(ComposeError) -> Bool {
        guard let lock = try lock() else {
            throw ComposeError(
                code: "already-running", message: "project '\(name)' is just being started", recovery: "try again")
        }
        let left = try await stopLeftovers(named: services, grace: grace ?? .seconds(10))
        lock.release()
        return left
    }

    private func stop(_ supervisor: ProcessHandle, until deadline: ContinuousClock.Instant) async {
        supervisor.send(SIGTERM)
        let hasEnded = await firstResult(
            of: {
                await supervisor.waitForExit()
                return !Task.isCancelled
            },
            {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return false
            })
        guard !hasEnded, !Task.isCancelled else { return }
        supervisor.send(SIGKILL)
        await supervisor.waitForExit()
    }

    private func stopLeftovers(
        holding lock: FileLock, until deadline: ContinuousClock.Instant
    ) async throws(ComposeError) -> Bool {
        let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
        let left = try await stopLeftovers(grace: min(.seconds(10), rest))
        removeRuntimeDirectory()
        lock.release()
        return left
    }

    private func checkPatience(until deadline: ContinuousClock.Instant) throws(ComposeError) {
        guard ContinuousClock.now >= deadline else { return }
        throw ComposeError(
            code: "supervisor-unknown",
            message: "a process that is not recorded in \(statusPath) holds \(lockPath)",
            recovery: "find it with 'fuser \(lockPath)'"
        )
    }

    /// Ends the processes that a supervisor left behind which was killed; only for who holds the project's lock.
    ///
    /// - Parameter names: of services or instances; all when there are none.
    /// - Returns: whether there were any.
    @discardableResult
    func stopLeftovers(
        named names: [String] = [], grace: Duration = .seconds(10), logger: Logger? = nil
    ) async throws(ComposeError) -> Bool {
        guard let status = try ProjectStatus.read(self) else { return false }
        let left = status.services.filter { service in
            let isMeant = names.isEmpty || names.contains(service.service) || names.contains(service.name)
            return isMeant && service.process.map(isLeft) ?? false
        }
        for service in left {
            let metadata: Logger.Metadata = ["service": "\(service.name)", "pid": "\(service.pid ?? 0)"]
            logger?.notice("ending what a killed supervisor left behind", metadata: metadata)
        }
        await withTaskGroup { group in
            for process in left.compactMap(\.process) {
                group.addTask {
                    await ProcessSession(id: process.pid).terminate(signal: .terminate, grace: grace)
                }
            }
        }
        return !left.isEmpty
    }

    /// Whether the session that this process led is still ours, and not one whose leader has been given the number.
    private func isLeft(_ process: ProcessIdentity) -> Bool {
        guard process.bootID == ProcessTable.bootID else { return false }
        let members = ProcessSession(id: process.pid).members
        if let leader = ProcessTable.entry(of: process.pid) {
            return leader.startTime == process.startTime && !members.isEmpty
        }
        // The leader is gone, but what it started carries our mark.
        return members.contains { ProcessTable.variable("SEGUE_STATE_DIR", of: $0.pid) == dataDirectory }
    }
}

/// Which project a command means.
package enum ProjectName {
    /// The name given by flag, else the file's own, else that of the folder, made valid as compose does.
    ///
    /// - Throws: ``ComposeError`` `invalid-project-name`.
    package static func resolve(flag: String?, file: String? = nil, directory: String) throws(ComposeError) -> String {
        if let name = flag ?? file {
            guard ProjectPlace.isName(name) else { throw invalid(name) }
            return name
        }
        guard let name = ProjectPlace.name(ofFolder: directory) else {
            throw invalid(URL(fileURLWithPath: directory).lastPathComponent)
        }
        return name
    }

    private static func invalid(_ name: String) -> ComposeError {
        ComposeError(
            code: "invalid-project-name",
            message: "'\(name)' is not a project name",
            recovery: "\(ProjectPlace.nameRule), with -p NAME or 'name:' in the file"
        )
    }
}
