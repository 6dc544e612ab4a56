import Foundation
import Support

/// Finds the executable that a service's command names.
package struct ExecutableLookup: Sendable {
    /// The folder in which a bare name is searched for first. Nil to search only in `PATH`.
    private let executableDirectory: String?

    package init(executableDirectory: String?) {
        self.executableDirectory = executableDirectory
    }

    /// Finds an executable by its name.
    ///
    /// - Parameters:
    ///   - name: a bare name, or a path that may be relative to the working directory.
    ///   - searchPath: the `PATH` that the service will have.
    /// - Returns: the path of an executable file; nil if there is none.
    package func find(_ name: String, workingDirectory: String, searchPath: String) -> String? {
        if name.unicodeScalars.contains("/") {
            let path = name.begins(with: "/") ? name : workingDirectory + "/" + name
            return isExecutable(path) ? path : nil
        }
        // A relative folder of the path starts in the working directory, as for a shell there.
        let directories =
            [executableDirectory].compactMap(\.self)
            + searchPath.split(scalar: ":").map { ComposePath.join(workingDirectory, String($0)) }
        return directories.map { $0 + "/" + name }.first(where: isExecutable)
    }

    private func isExecutable(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        return exists && !isDirectory.boolValue && access(path, X_OK) == 0
    }

    /// Finds the executable of a service's command.
    ///
    /// - Parameters:
    ///   - command: the executable, then its arguments.
    ///   - key: the key that contains the command, for errors.
    ///   - searchPath: the `PATH` that the service will have. Nil for `/usr/local/bin:/usr/bin:/bin`.
    /// - Returns: the path of the executable.
    /// - Throws: ``ComposeError`` `executable-not-found`.
    func executable(
        of command: [String], as key: ServiceKey, workingDirectory: String, searchPath: String?
    ) throws(ComposeError) -> String {
        guard let executable = command.first else {
            throw ComposeError(
                code: "executable-not-found", message: "service '\(key.service)': '\(key.name)' is empty",
                recovery: "name an executable", key: key)
        }
        let searchPath = searchPath ?? "/usr/local/bin:/usr/bin:/bin"
        if let path = find(executable, workingDirectory: workingDirectory, searchPath: searchPath) { return path }
        let directories = [executableDirectory, "PATH"].compactMap(\.self).joined(separator: " and ")
        let isPath = executable.unicodeScalars.contains("/")
        let isThere =
            isPath && FileManager.default.fileExists(atPath: ComposePath.join(workingDirectory, executable))
        let remedy =
            executable.utf8.first == UInt8(ascii: "~")
            ? "'~' is not expanded: write ${HOME}" : isThere ? "make it executable (chmod +x)" : "build it"
        throw ComposeError(
            code: "executable-not-found",
            message:
                "service '\(key.service)': no executable '\(executable)' in \(isPath ? workingDirectory : directories)",
            recovery: "\(remedy), or correct '\(key.name)'", key: key
        )
    }
}
