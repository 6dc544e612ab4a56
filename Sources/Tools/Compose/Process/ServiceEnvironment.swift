import Foundation
import Glibc
import SystemSupport

/// The variables and the working directory of a running service, with which another command can be run.
package struct ServiceEnvironment: Sendable {
    private let variables: [String: String]
    private let directory: String

    /// Nil if the service does not run, or its variables or its directory cannot be read.
    package init?(of status: InstanceStatus) {
        guard let process = status.process, process.isAlive, let variables = ProcessTable.variables(of: process.pid),
            let directory = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/cwd")
        else { return nil }
        // The command must neither send messages in the name of the service nor end with it.
        let own = OfferedVariables.notificationVariables.union([ProcessTag.variable])
        self.variables = variables.filter { !own.contains($0.key) }
        self.directory = directory
    }

    /// Replaces this process by a command, in the service's directory and with its variables.
    ///
    /// - Throws: ``ComposeError`` `executable-not-found`, `start-failed`.
    package func execute(_ command: [String]) throws(ComposeError) -> Never {
        let lookup = ExecutableLookup(executableDirectory: InstalledFiles.programFolder)
        let path = lookup.find(
            command[0], workingDirectory: directory, searchPath: variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
        guard let path else {
            throw ComposeError(
                code: "executable-not-found", message: "there is no executable '\(command[0])' in \(directory) or PATH",
                recovery: "name an executable file")
        }
        // A new program keeps ignored signals ignored.
        signal(SIGPIPE, SIG_DFL)
        let arguments = command.map { strdup($0) } + [nil]
        let environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        if chdir(directory) == 0 { execve(path, arguments, environment) }
        let reason = String(cString: strerror(errno))
        throw ComposeError(code: "start-failed", message: "cannot start '\(path)' in \(directory): \(reason)")
    }
}
