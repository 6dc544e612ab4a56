internal import Foundation

/// The names of projects and the addresses of their buses. A program needs nothing else to connect to a stack that the
/// launcher runs on this machine. The launcher uses the same rules.
package enum ProjectPlace {
    package static let nameRule = "use lower-case letters, digits, '-' and '_', beginning with a letter or digit"

    /// True if a string is a valid project name by the compose specification.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: #/[a-z0-9][a-z0-9_-]*/#) != nil
    }

    /// Turns the last component of a path into a project name as compose does; nil if no valid name remains.
    package static func name(ofFolder directory: String) -> String? {
        let folder = URL(fileURLWithPath: directory).lastPathComponent
        let normalized = folder.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        let name = String(normalized.drop { "-_".contains($0) })
        return isName(name) ? name : nil
    }

    /// The compose files of a folder. The first of the usual names that exists is used, as `docker compose` does, with
    /// the override file if there is one. Without these, `compose/default.yaml` is used.
    ///
    /// - Returns: an empty array if the folder has no compose file.
    package static func composeFiles(in directory: String) -> [String] {
        func existing(_ names: [String]) -> String? {
            names.map { directory + "/" + $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let usual = ["compose", "docker-compose"].flatMap { ["\($0).yaml", "\($0).yml"] }
        guard let file = existing(usual) else { return existing(["compose/default.yaml"]).map { [$0] } ?? [] }
        let overrides = ["compose", "docker-compose"].flatMap { ["\($0).override.yaml", "\($0).override.yml"] }
        return [file, existing(overrides)].compactMap(\.self)
    }

    /// The folder of all projects' sockets: `$XDG_RUNTIME_DIR/segue`. If that variable is not set or not an absolute
    /// path, `segue-UID` in `$TMPDIR` or `/tmp`.
    package static func runtimeRoot(environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") { return "\(runtime)/segue" }
        let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        return (temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary) + "/segue-\(getuid())"
    }

    /// The address of a project's bus: `ipc://` and the folder in which the broker creates its sockets.
    /// - Parameter runtimeDirectory: the project's folder in ``runtimeRoot(environment:)``.
    package static func busAddress(runtimeDirectory: String) -> String {
        "ipc://\(runtimeDirectory)/bus"
    }
}

// MARK: For programs other than the launcher

extension ProjectPlace {
    /// The error that the project is unknown or has an invalid name. The description says what to do.
    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    /// The address of a project's bus.
    /// - Parameters:
    ///   - project: the name of the project; nil for the project of `directory`.
    ///   - directory: an absolute path.
    /// - Throws: ``Unknown``
    package static func busAddress(
        of project: String?, in directory: String = FileManager.default.currentDirectoryPath,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Unknown) -> String {
        let name = if let project { project } else { try name(in: directory) }
        guard isName(name) else {
            throw Unknown(description: "'\(name)' is not a project name; \(nameRule), with -p NAME")
        }
        return busAddress(runtimeDirectory: "\(runtimeRoot(environment: environment))/\(name)")
    }

    /// The project of a folder: the `name` in its compose files, the override file first. Without one, the name is made
    /// from the folder of the first compose file, or from `directory` if there is no compose file.
    private static func name(in directory: String) throws(Unknown) -> String {
        let files = composeFiles(in: directory)
        for file in files.reversed() {
            if let name = try writtenName(in: file) { return name }
        }
        let folder = files.first.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? directory
        guard let name = name(ofFolder: folder) else {
            throw Unknown(description: "the name of \(folder) cannot be a project name; name the project with -p NAME")
        }
        return name
    }

    /// The value of the key `name` in a compose file; nil if the file does not have the key.
    private static func writtenName(in file: String) throws(Unknown) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw Unknown(description: "cannot read \(file); name the project with -p NAME")
        }
        guard let match = text.firstMatch(of: #/(?m)^name[ \t]*:(.*)$/#) else { return nil }
        // Only the launcher reads variables and the rarer forms of YAML.
        guard let name = match.1.wholeMatch(of: #/[ \t]*(["']?)([a-z0-9][a-z0-9_-]*)\1[ \t]*(?:[ \t]#.*)?\r?/#) else {
            throw Unknown(
                description: "\(file): the value of 'name' is not a plain project name; name the project with -p NAME")
        }
        return String(name.2)
    }
}
