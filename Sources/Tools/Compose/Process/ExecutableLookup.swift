import Foundation

/// Finds what a service's command names.
package struct ExecutableLookup: Sendable {
    /// Where `segue` and the executables that come with it lie; a bare name is looked for here first.
    let executableDirectory: String?

    package init(executableDirectory: String?) {
        self.executableDirectory = executableDirectory
    }

    /// - Parameters:
    ///   - name: a bare name, or a path that may be relative to the working directory.
    ///   - searchPath: the `PATH` that the service will have.
    /// - Returns: an absolute path of an executable file, or `nil`.
    package func find(_ name: String, workingDirectory: String, searchPath: String) -> String? {
        if name.contains("/") {
            let path = name.hasPrefix("/") ? name : workingDirectory + "/" + name
            return isExecutable(path) ? path : nil
        }
        let directories = [executableDirectory].compactMap(\.self) + searchPath.split(separator: ":").map(String.init)
        return directories.map { $0 + "/" + name }.first(where: isExecutable)
    }

    private func isExecutable(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        return exists && !isDirectory.boolValue && access(path, X_OK) == 0
    }
}
