import Foundation
import Glibc

/// A stack's place on this machine: its name, and where its state and its sockets lie.
///
/// Projects with different names run beside each other and share nothing.
package struct Project: Sendable, Hashable {
    package let name: String
    /// What outlives a run: status, lock, logs, the services' data.
    package let stateDirectory: String
    /// What a run needs and leaves nothing of: sockets.
    package let runtimeDirectory: String

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
            runtimeRoot: RuntimeDirectory.base(environment: environment)
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
    package var busAddress: String { "ipc://\(runtimeDirectory)/bus" }
    package var dataDirectory: String { "\(stateDirectory)/data" }
    package var logDirectory: String { "\(stateDirectory)/logs" }
    var eventDirectory: String { "\(stateDirectory)/events" }
    /// What a detached supervisor itself has to say.
    package var supervisorLogPath: String { "\(stateDirectory)/supervisor.log" }

    /// The stack as it was last asked for, resolved.
    package var stackPath: String { "\(stateDirectory)/stack.yaml" }

    var statusPath: String { "\(stateDirectory)/supervisor.json" }
    var lockPath: String { "\(stateDirectory)/lock" }

    /// Where the supervisor takes requests.
    var controlPath: String { "\(runtimeDirectory)/control" }

    /// What a launcher's process id follows: beside the folder, which the supervisor empties. No name has a dot in it.
    var launchSocketPrefix: String { "\(runtimeDirectory).launch-" }

    func notifyPath(of service: String) -> String { "\(runtimeDirectory)/notify/\(service)" }

    /// - Throws: ``ComposeError`` `socket-path-too-long`.
    func checkSocketPaths(services: [String]) throws(ComposeError) {
        for path in services.map(notifyPath) + [controlPath, "\(runtimeDirectory)/bus/ingress"] {
            guard path.utf8.count <= UnixAddress.longestPath else { throw RuntimeDirectory.tooLong(path) }
        }
    }

    /// Makes the folders; those that hold sockets and state are for this user alone.
    func prepare(services: [String]) throws(ComposeError) {
        try checkSocketPaths(services: services)
        // The folder above counts too: whoever owns it could put another one in the place of ours.
        let runtimeRoot = (runtimeDirectory as NSString).deletingLastPathComponent
        let runtime = [runtimeRoot, runtimeDirectory, "\(runtimeDirectory)/notify"]
        for path in [stateDirectory, dataDirectory, logDirectory, eventDirectory] + runtime {
            try RuntimeDirectory.make(path)
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
}
