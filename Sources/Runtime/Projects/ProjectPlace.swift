internal import Foundation

/// The names of projects, and where the bus of a project is: all that a program needs to join a stack that the launcher
/// runs on this machine. The launcher follows the same rules.
package enum ProjectPlace {
    package static let nameRule = "use lower-case letters, digits, '-' and '_', beginning with a letter or digit"

    /// The rule of the compose specification.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: #/[a-z0-9][a-z0-9_-]*/#) != nil
    }

    /// A folder's name, made valid as compose does; nil if nothing valid is left of it.
    package static func name(ofFolder directory: String) -> String? {
        let folder = URL(fileURLWithPath: directory).lastPathComponent
        let normalized = folder.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        let name = String(normalized.drop { "-_".contains($0) })
        return isName(name) ? name : nil
    }

    /// The first of the usual names of compose files that exists in a folder, as `docker compose` looks for it, with the
    /// override file beside it; then the default of a folder that has several stacks.
    ///
    /// - Returns: nothing when there is none.
    package static func composeFiles(in directory: String) -> [String] {
        func existing(_ names: [String]) -> String? {
            names.map { directory + "/" + $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let usual = ["compose", "docker-compose"].flatMap { ["\($0).yaml", "\($0).yml"] }
        guard let file = existing(usual) else { return existing(["compose/default.yaml"]).map { [$0] } ?? [] }
        let overrides = ["compose", "docker-compose"].flatMap { ["\($0).override.yaml", "\($0).override.yml"] }
        return [file, existing(overrides)].compactMap(\.self)
    }

    /// The folder of all projects' sockets: `$XDG_RUNTIME_DIR/segue`, or `segue-UID` in the temporary directory where the
    /// first is not set.
    package static func runtimeRoot(environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") { return "\(runtime)/segue" }
        let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        return (temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary) + "/segue-\(getuid())"
    }

    /// Where the bus of a project is: `ipc://` and the folder that the broker makes its sockets in.
    /// - Parameter runtimeDirectory: the project's folder in ``runtimeRoot(environment:)``.
    package static func busAddress(runtimeDirectory: String) -> String {
        "ipc://\(runtimeDirectory)/bus"
    }
}

// MARK: Without the launcher

extension ProjectPlace {
    /// A project that cannot be told.
    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    /// The bus of a project.
    /// - Parameters:
    ///   - project: its name; nil for the project of the folder.
    ///   - directory: the folder, absolute.
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

    /// The project of a folder: the one that its compose files name, else the folder of the first file, else this one.
    private static func name(in directory: String) throws(Unknown) -> String {
        let files = composeFiles(in: directory)
        for file in files.reversed() {
            if let name = try writtenName(in: file) { return name }
        }
        let folder = files.first.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? directory
        guard let name = name(ofFolder: folder) else {
            throw Unknown(description: "the folder \(folder) does not name a project; name one with -p NAME")
        }
        return name
    }

    /// The value of the key `name` of a compose file, if the file has one.
    private static func writtenName(in file: String) throws(Unknown) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw Unknown(description: "cannot read \(file); name the project with -p NAME")
        }
        guard let match = text.firstMatch(of: #/(?m)^name[ \t]*:(.*)$/#) else { return nil }
        // Variables and the rarer forms of YAML are the launcher's business.
        guard let name = match.1.wholeMatch(of: #/[ \t]*(["']?)([a-z0-9][a-z0-9_-]*)\1[ \t]*(?:[ \t]#.*)?\r?/#) else {
            throw Unknown(description: "\(file) does not name its project plainly; name it with -p NAME")
        }
        return String(name.2)
    }
}
