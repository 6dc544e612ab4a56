import Foundation
import Glibc
import Logging
import Projects
import Support
import SystemSupport

/// A named stack on this machine, with the folders of its state and its sockets.
///
/// Projects with different names can run at the same time. Each has its own bus.
package struct Project: Sendable, Hashable {
    package let name: String
    /// The folder of the files that are kept after a run, such as the status, the logs and the services' data.
    package let stateDirectory: String
    /// The folder of a run's sockets and current status. The supervisor removes it at its end, unless it is killed.
    let runtimeDirectory: String

    /// A project with its state in `$XDG_STATE_HOME/segue/NAME`, by default `~/.local/state/segue/NAME`, and its
    /// sockets in the folder `NAME` of ``ProjectPlace/runtimeRoot(environment:)``.
    ///
    /// - Throws: ``ComposeError`` `invalid-project-name`.
    package init(
        name: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let state = environment["XDG_STATE_HOME"].flatMap { $0.begins(with: "/") ? $0 : nil } ?? home + "/.local/state"
        try self.init(
            name: name,
            stateRoot: "\(state)/segue",
            runtimeRoot: ProjectPlace.runtimeRoot(environment: environment)
        )
    }

    /// - Parameters:
    ///   - stateRoot: the absolute path of the folder of all projects' state.
    ///   - runtimeRoot: the absolute path of the folder of all projects' sockets. It must be short, because the maximum
    ///     length of a socket's path is 107 bytes.
    package init(name: String, stateRoot: String, runtimeRoot: String) throws(ComposeError) {
        self.name = try ProjectName.resolve(flag: name, directory: "")
        stateDirectory = "\(stateRoot)/\(name)"
        runtimeDirectory = "\(runtimeRoot)/\(name)"
    }

    /// The address of the project's bus: that of `x-bus` while the project runs, else ``ownBusAddress``.
    package var busAddress: String {
        get throws(ComposeError) {
            try ComposeError.ofFolders { () throws(PrivateFolderError) in
                try ProjectPlace.busAddress(runtimeDirectory: runtimeDirectory)
            }
        }
    }
    /// The path of the key file of people's tools; nil if the project has no keys, or does not run.
    package var operatorKey: String? {
        get throws(ComposeError) {
            try ComposeError.ofFolders { () throws(PrivateFolderError) in
                try ProjectPlace.operatorKey(runtimeDirectory: runtimeDirectory)
            }
        }
    }
    /// `ipc://` and the folder in which the project's own broker creates its sockets.
    var ownBusAddress: String { ProjectPlace.ownBusAddress(runtimeDirectory: runtimeDirectory) }
    package var dataDirectory: String { "\(stateDirectory)/data" }
    var logDirectory: String { "\(stateDirectory)/logs" }
    var eventDirectory: String { "\(stateDirectory)/events" }
    /// The file of a detached supervisor's own messages.
    var supervisorLogPath: String { "\(stateDirectory)/supervisor.log" }

    /// The file of the stack that was last requested.
    private var stackPath: String { "\(stateDirectory)/stack.yaml" }

    /// The file of the last status, which is kept after a run.
    var statusPath: String { "\(stateDirectory)/supervisor.json" }
    /// The file of the current status of a run, in the runtime folder. It takes precedence over ``statusPath``.
    static let runningStatusFile = "supervisor.json"
    var runningStatusPath: String { "\(runtimeDirectory)/\(Self.runningStatusFile)" }
    private var lockPath: String { "\(stateDirectory)/lock" }

    /// The socket on which the supervisor receives requests.
    var controlPath: String { "\(runtimeDirectory)/control" }

    /// The first part of the path of the socket of a ``DetachedSupervisor``; the id of the process that starts the
    /// supervisor follows. The socket is not in the runtime folder, which the supervisor removes when it starts.
    var launchSocketPrefix: String { "\(runtimeDirectory).launch-" }

    func notifyPath(of service: String) -> String { "\(runtimeDirectory)/notify/\(service)" }

    /// - Throws: ``ComposeError`` `socket-path-too-long`.
    func checkSocketPaths(services: [String]) throws(ComposeError) {
        for path in services.map(notifyPath) + [controlPath, "\(runtimeDirectory)/bus/ingress"] {
            guard path.utf8.count <= UnixAddress.longestPath else { throw .socketPathTooLong(path) }
        }
    }

    /// Opens the runtime folder. Another user may have made the folder of all projects, so every use of the runtime folder
    /// begins with this check. Nil if there is no runtime folder.
    ///
    /// - Throws: ``ComposeError`` `insecure-directory`, `directory`.
    @discardableResult
    func runtimeFolder() throws(ComposeError) -> PrivateFolder? {
        try ComposeError.ofFolders { () throws(PrivateFolderError) in
            try ProjectPlace.runtimeFolder(runtimeDirectory)
        }
    }

    /// - Throws: ``ComposeError`` `socket-path-too-long`, `socket`, `insecure-directory`.
    func notifySocket(at path: String) throws(ComposeError) -> NotifySocket {
        try runtimeFolder()
        do {
            return try NotifySocket(path: path)
        } catch {
            throw .socket(error)
        }
    }

    /// Creates the project's folders with mode 0700.
    func prepare(services: [String]) throws(ComposeError) {
        try checkSocketPaths(services: services)
        // The parent folder must be private as well: its owner could replace the runtime folder.
        let runtimeRoot = (runtimeDirectory as NSString).deletingLastPathComponent
        let runtime = [runtimeRoot, runtimeDirectory, "\(runtimeDirectory)/notify"]
        for path in [stateDirectory, dataDirectory, logDirectory, eventDirectory] + runtime {
            try ComposeError.makeFolder(path)
        }
    }

    /// Tells other processes the address of a bus that is not the project's own, and the folder of its keys. See
    /// ``ProjectPlace``.
    func announce(bus: String?, keys: String? = nil) throws(ComposeError) {
        try announce(bus, in: ProjectPlace.busFile)
        try announce(keys, in: ProjectPlace.keysFile)
    }

    private func announce(_ text: String?, in file: String) throws(ComposeError) {
        guard let text else { return }
        try runtimeFolder()
        let path = "\(runtimeDirectory)/\(file)"
        do {
            try AtomicFile(path).replace(with: Data(text.utf8), isDurable: false)
        } catch {
            throw ComposeError(code: "bus-file", message: "cannot write \(path): \(error.reason)")
        }
    }

    /// Acquires the project's lock, which a supervisor holds as long as it runs.
    ///
    /// - Returns: nil if another process holds the lock.
    func lock() throws(ComposeError) -> FileLock? {
        try ComposeError.makeFolder(stateDirectory)
        do {
            return try FileLock.acquire(lockPath)
        } catch {
            throw ComposeError(code: "lock", message: "cannot open the lock file \(error)")
        }
    }

    /// Removes everything that the project has kept: the services' data, logs, status and saved stack. Must only be
    /// called while the project does not run.
    ///
    /// - Throws: ``ComposeError`` `already-running` if another process holds the project's lock; `directory`.
    package func removeState() throws(ComposeError) {
        guard FileManager.default.fileExists(atPath: stateDirectory) else { return }
        guard let lock = try lock() else {
            throw ComposeError(
                code: "already-running", message: "another process is starting or stopping project '\(name)'",
                recovery: "try again")
        }
        defer { lock.release() }
        do {
            try FileManager.default.removeItem(atPath: stateDirectory)
        } catch {
            throw ComposeError(
                code: "directory", message: "cannot remove \(stateDirectory): \(error.localizedDescription)")
        }
    }

    /// Removes the runtime folder, and the sockets at ``launchSocketPrefix`` of processes that have ended. Must only be
    /// called while no service of the project runs.
    ///
    /// - Throws: ``ComposeError`` `insecure-directory`, `directory`. Nothing is removed then.
    func removeRuntimeDirectory() throws(ComposeError) {
        let root = try ComposeError.ofFolders { () throws(PrivateFolderError) in
            try PrivateFolder.open((runtimeDirectory as NSString).deletingLastPathComponent)
        }
        guard let root else { return }
        try? root.remove((runtimeDirectory as NSString).lastPathComponent)
        for entry in root.names {
            let path = "\(root.path)/\(entry)"
            guard let pid = path.removing(prefix: launchSocketPrefix).flatMap({ pid_t($0) }) else { continue }
            // A launcher that was killed could not remove its socket.
            if ProcessTable.entry(of: pid) == nil { try? root.remove(entry) }
        }
    }

    /// The projects that have a status file in this user's state folder, sorted by name.
    package static func all(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) -> [Project] {
        // The folder of all projects is the same for any name.
        let any = try Project(name: "any", environment: environment)
        try any.runtimeFolder()
        let root = (any.stateDirectory as NSString).deletingLastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.sorted().compactMap { name in
            guard let project = try? Project(name: name, environment: environment) else { return nil }
            return FileManager.default.fileExists(atPath: project.statusPath) ? project : nil
        }
    }

    /// Waits until the supervisor that the status file names has ended.
    package func supervisorHasEnded() async throws(ComposeError) {
        try await ProjectStatus.read(self)?.supervisor.open()?.waitForExit()
    }

    /// Saves the stack. ``savedStack()`` returns it.
    ///
    /// The file can contain secrets.
    func save(_ stack: Stack) throws(ComposeError) {
        do {
            try AtomicFile(stackPath).replace(with: Data(stack.text.utf8))
        } catch {
            let reason = (error as? SystemError)?.reason ?? "\(error)"
            throw ComposeError(code: "stack-file", message: "cannot write \(stackPath): \(reason)")
        }
    }

    /// The stack that was last requested; nil if no stack has been saved.
    ///
    /// - Throws: ``ComposeError`` `stack-file`.
    package func savedStack() throws(ComposeError) -> Stack? {
        guard FileManager.default.fileExists(atPath: stackPath) else { return nil }
        do {
            return try Stack(text: String(contentsOfFile: stackPath, encoding: .utf8))
        } catch {
            throw ComposeError(
                code: "stack-file", message: "cannot read the saved stack \(stackPath)",
                recovery: "run 'segue up' with the project's compose files")
        }
    }

    /// The services that are wanted in the last status, and further services.
    ///
    /// - Parameter services: the names of the further services, or of their instances.
    package func lastSelection(adding services: [String] = []) throws(ComposeError) -> Selection {
        let last = try ProjectStatus.read(self)?.services ?? []
        let named = last.filter { services.contains($0.name) }.map(\.service)
        let wanted = last.filter(\.order.isWanted).map(\.service)
        // A selection names services, so the name of an instance is replaced by the name of its service.
        let known = services.filter { name in !last.contains { $0.name == name && $0.service != name } }
        return Selection(Set(wanted + named + known).sorted())
    }

    /// Stops the project from another process; returns when none of its processes is left.
    ///
    /// - Parameter timeout: the maximum time for an orderly stop. After it, the supervisor and the processes that it
    ///   leaves are killed.
    /// - Returns: true if anything was running.
    /// - Throws: ``ComposeError`` `supervisor-unknown` if, after `timeout`, an unknown process holds the lock.
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
                // A supervisor that has just started holds the lock before it has written its status.
                try checkPatience(until: deadline)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Ends the processes of some services that a killed supervisor has left; returns when all of these processes have
    /// ended.
    ///
    /// - Returns: true if there were any.
    /// - Throws: ``ComposeError`` `already-running` if another process holds the project's lock.
    package func stopUnsupervised(_ services: [String], grace: Duration?) async throws(ComposeError) -> Bool {
        guard let lock = try lock() else {
            throw ComposeError(
                code: "already-running", message: "another process is starting or stopping project '\(name)'",
                recovery: "try again")
        }
        let left = try await Leftovers(project: self).stop(services, grace: grace ?? .seconds(10))
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
        let left = try await Leftovers(project: self).stop(grace: min(.seconds(10), rest))
        try removeRuntimeDirectory()
        lock.release()
        return left
    }

    private func checkPatience(until deadline: ContinuousClock.Instant) throws(ComposeError) {
        guard ContinuousClock.now >= deadline else { return }
        throw ComposeError(
            code: "supervisor-unknown",
            message: "an unknown process, which \(statusPath) does not name, holds the lock \(lockPath)",
            recovery: "find it with 'fuser \(lockPath)', and end it"
        )
    }
}

/// Determines the project that a command refers to.
package enum ProjectName {
    /// The name given by a flag, else the name in the file, else the folder's name, which is converted to a valid name
    /// as compose does.
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
            recovery: "\(ProjectPlace.nameRule); set the name with -p NAME or 'name:' in the file"
        )
    }
}
