import Foundation

extension ExecutableLookup {
    /// - Parameters:
    ///   - command: the executable, then its arguments.
    ///   - service: whose command it is.
    ///   - searchPath: the `PATH` that the service will have, if it has one.
    /// - Returns: an absolute path.
    /// - Throws: ``ComposeError`` `executable-not-found`.
    func executable(
        of command: [String], service: String, workingDirectory: String, searchPath: String?
    ) throws(ComposeError) -> String {
        guard let name = command.first else {
            throw ComposeError(code: "executable-not-found", message: "service '\(service)': a command is empty")
        }
        let searchPath = searchPath ?? "/usr/local/bin:/usr/bin:/bin"
        if let path = find(name, workingDirectory: workingDirectory, searchPath: searchPath) { return path }
        let directories = [executableDirectory, "PATH"].compactMap(\.self).joined(separator: " and ")
        throw ComposeError(
            code: "executable-not-found",
            message: "service '\(service)': no executable '\(name)' in "
                + (name.contains("/") ? workingDirectory : directories),
            recovery: "build it, or correct 'command'"
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
                recovery: "make it, or correct 'working_dir'"
            )
        }
        return path
    }
}
