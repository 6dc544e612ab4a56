import Foundation

extension ExecutableLookup {
    /// - Parameters:
    ///   - command: the executable, then its arguments.
    ///   - key: whose command it is.
    ///   - searchPath: the `PATH` that the service will have, if it has one.
    /// - Returns: an absolute path.
    /// - Throws: ``ComposeError`` `executable-not-found`.
    func executable(
        of command: [String], as key: ServiceKey, workingDirectory: String, searchPath: String?
    ) throws(ComposeError) -> String {
        guard let executable = command.first else {
            throw ComposeError(
                code: "executable-not-found", message: "service '\(key.service)': its '\(key.name)' is empty", key: key)
        }
        let searchPath = searchPath ?? "/usr/local/bin:/usr/bin:/bin"
        if let path = find(executable, workingDirectory: workingDirectory, searchPath: searchPath) { return path }
        let directories = [executableDirectory, "PATH"].compactMap(\.self).joined(separator: " and ")
        let isPath = executable.contains("/")
        let isThere =
            isPath && FileManager.default.fileExists(atPath: ComposePath.join(workingDirectory, executable))
        throw ComposeError(
            code: "executable-not-found",
            message:
                "service '\(key.service)': no executable '\(executable)' in \(isPath ? workingDirectory : directories)",
            recovery: "\(isThere ? "chmod +x it" : "build it"), or correct '\(key.name)'", key: key
        )
    }
}

extension Service {
    /// Where it runs.
    ///
    /// - Parameter directory: the stack's.
    /// - Throws: ``ComposeError`` `no-working-directory`.
    func existingDirectory(in directory: String) throws(ComposeError) -> String {
        let path = ComposePath.join(directory, workingDirectory ?? "")
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ComposeError(
                code: "no-working-directory",
                message: "service '\(name)': there is no folder \(path)",
                recovery: "make it, or correct 'working_dir'",
                key: ServiceKey(service: name, name: "working_dir")
            )
        }
        return path
    }
}
