internal import Foundation
internal import Support
package import SystemSupport

/// The rules for the names of projects and for the addresses of their buses.
package enum ProjectPlace {
    package static let nameRule = "use lower-case letters, digits, '-' and '_', beginning with a letter or digit"

    /// True if a string is a valid project name by the compose specification.
    package static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: #/[a-z0-9][a-z0-9_-]*/#.byScalar) != nil
    }

    /// Turns the last component of a path into a project name as compose does. Nil if no valid name remains.
    package static func name(ofFolder directory: String) -> String? {
        let folder = URL(fileURLWithPath: directory).lastPathComponent
        let scalars = folder.lowercased().unicodeScalars.filter { scalar in
            scalar.isASCIILetter || scalar.isASCIIDigit || scalar == "-" || scalar == "_"
        }
        let name = String(Substring(scalars.drop { scalar in scalar == "-" || scalar == "_" }))
        return isName(name) ? name : nil
    }

    /// The paths of a folder's compose files: the first existing file of `compose.yaml`, `compose.yml`,
    /// `docker-compose.yaml` and `docker-compose.yml`, and then the first existing override file, such as
    /// `compose.override.yaml`. If none of the four files exists, the only compose file is `compose/default.yaml`.
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

    /// The compose files that a command uses if its options name none: the files in `COMPOSE_FILE`, or else the files
    /// of the nearest folder that has any, beginning with `directory`.
    ///
    /// - Parameter directory: an absolute path.
    /// - Returns: absolute paths, or `-` for standard input; an empty array if there is no compose file.
    package static func composeFiles(from directory: String, environment: [String: String]) -> [String] {
        if let named = environment["COMPOSE_FILE"], !named.isEmpty {
            let separator = environment["COMPOSE_PATH_SEPARATOR"].flatMap { $0.isEmpty ? nil : $0 } ?? ":"
            var (paths, rest) = ([Substring](), named[...])
            while let (path, after) = rest.cut(at: separator) {
                paths.append(path)
                rest = after
            }
            return (paths + [rest]).filter { !$0.isEmpty }.map(String.init)
                .map { $0.begins(with: "/") || "-" == $0 ? $0 : "\(directory)/\($0)" }
        }
        var folder = directory
        while true {
            let files = composeFiles(in: folder == "/" ? "" : folder)
            if !files.isEmpty || folder.isEmpty || folder == "/" { return files }
            folder = (folder as NSString).deletingLastPathComponent
        }
    }

    /// The variable with the name of the project.
    package static let nameVariable = "COMPOSE_PROJECT_NAME"

    /// The value of ``nameVariable``, which precedes the name in the compose file. Nil if it is not set.
    package static func projectName(in environment: [String: String]) -> String? {
        environment[nameVariable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The paths in `COMPOSE_ENV_FILES`: the env files that a command uses if its options name none.
    package static func environmentFiles(in environment: [String: String]) -> [String] {
        (environment["COMPOSE_ENV_FILES"] ?? "").split(scalar: ",").map(String.init)
    }

    /// The folder of all projects' sockets: `$XDG_RUNTIME_DIR/segue`. If `XDG_RUNTIME_DIR` is not set to an absolute
    /// path, the folder is `$TMPDIR/segue-UID`. If `TMPDIR` is not set to an absolute path either, the folder is
    /// `/tmp/segue-UID`.
    package static func runtimeRoot(environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.begins(with: "/") { return "\(runtime)/segue" }
        let temporary = environment["TMPDIR"].flatMap { $0.begins(with: "/") ? $0 : nil } ?? "/tmp"
        return (temporary.removing(suffix: "/") ?? temporary[...]) + "/segue-\(getuid())"
    }

    /// Opens the folder of a project's sockets, after it has checked the folder of all projects, which another user may
    /// have made: its path in `/tmp` is known. Creates the folder of all projects if it does not exist. Nil if the
    /// project has no folder.
    /// - Parameter runtimeDirectory: the project's folder in ``runtimeRoot(environment:)``.
    package static func runtimeFolder(_ runtimeDirectory: String) throws(PrivateFolderError) -> PrivateFolder? {
        let path = runtimeDirectory as NSString
        return try PrivateFolder.claim(path.deletingLastPathComponent)?.folder(path.lastPathComponent)
    }

    /// The address of a project's bus: the content of ``busFile``. Without that file, `ipc://` and the folder in which
    /// the broker creates its sockets.
    /// - Parameter runtimeDirectory: the project's folder in ``runtimeRoot(environment:)``.
    /// - Throws: an error if another user could have written the file, or could listen at the address.
    package static func busAddress(runtimeDirectory: String) throws(PrivateFolderError) -> String {
        let content = try runtimeFolder(runtimeDirectory)?.contents(of: busFile, limit: 4096)
        let address = content.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return address.isEmpty ? ownBusAddress(runtimeDirectory: runtimeDirectory) : address
    }

    /// The address of the bus that a project runs in its own folder.
    package static func ownBusAddress(runtimeDirectory: String) -> String { "ipc://\(runtimeDirectory)/bus" }

    /// The name of the file in which the supervisor of a running project writes the address of a bus that the project
    /// does not run in its own folder.
    package static let busFile = "bus-address"

    /// The name of the file in which the supervisor of a running project writes the folder of its keys.
    package static let keysFile = "bus-keys"

    /// The path of the key file that people's tools use for a project: `operator.key` in the folder of its keys. Nil if
    /// the project has no keys, or does not run.
    /// - Throws: as ``busAddress(runtimeDirectory:)``
    package static func operatorKey(runtimeDirectory: String) throws(PrivateFolderError) -> String? {
        let content = try runtimeFolder(runtimeDirectory)?.contents(of: keysFile, limit: 4096)
        return content.map { KeyFilePlace.path(of: "operator", in: String(decoding: $0, as: UTF8.self)) }
    }
}

// MARK: For programs other than segue

extension ProjectPlace {
    /// The error of a project whose name is invalid or cannot be determined, or whose folder another user can enter. The
    /// description contains the remedy.
    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    /// The bus of a project, and the key file with which people's tools use it. The key file is nil for a bus without
    /// keys.
    /// - Parameters:
    ///   - project: the name of the project. Nil for `COMPOSE_PROJECT_NAME`, or else the project of `directory`.
    ///   - directory: the absolute path of a folder. It is used only if `project` is nil.
    /// - Throws: ``Unknown``
    package static func bus(
        of project: String?, in directory: String = FileManager.default.currentDirectoryPath,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Unknown) -> (address: String, keyFile: String?) {
        let given = project ?? projectName(in: environment)
        if given == nil, directory.isEmpty {
            throw Unknown(description: "\(removedFolder(environment)); name the project with -p NAME")
        }
        let name = if let given { given } else { try name(in: directory, environment) }
        guard isName(name) else {
            throw Unknown(description: "'\(name)' is not a project name; \(nameRule)")
        }
        do {
            let folder = "\(runtimeRoot(environment: environment))/\(name)"
            return (try busAddress(runtimeDirectory: folder), try operatorKey(runtimeDirectory: folder))
        } catch {
            throw Unknown(description: error.description)
        }
    }

    /// Says that the current folder of this process has been removed. Its path is empty then.
    package static func removedFolder(_ environment: [String: String]) -> String {
        "the current folder, \(environment["PWD"] ?? "with an unknown name"), has been removed"
    }

    /// The name of a folder's project: that of ``nameVariable`` in an env file, or else the value of the key `name` in the
    /// override file, or else in the compose file. If neither file has the key, the name of the compose file's folder is
    /// used. If there is no compose file, the name of `directory` is used.
    private static func name(in directory: String, _ environment: [String: String]) throws(Unknown) -> String {
        var variables = environment
        let named = environmentFiles(in: environment).map { $0.begins(with: "/") ? $0 : "\(directory)/\($0)" }
        // Of several env files the last one that sets a variable counts; a variable that is set keeps its value.
        for file in named.isEmpty ? ["\(directory)/.env"] : named.reversed() {
            variables.merge(try selectingVariables(in: file)) { first, _ in first }
        }
        let files = composeFiles(from: directory, environment: variables)
        let folder = files.first.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? directory
        if named.isEmpty { variables.merge(try selectingVariables(in: "\(folder)/.env")) { first, _ in first } }
        if let name = projectName(in: variables) { return name }
        for file in files.reversed() {
            if let name = try writtenName(in: file) { return name }
        }
        guard let name = name(ofFolder: folder) else {
            throw Unknown(description: "the path \(folder) gives no project name; name the project with -p NAME")
        }
        return name
    }

    /// The variables of an env file that select compose files or a project. Empty if the file cannot be read.
    private static func selectingVariables(in file: String) throws(Unknown) -> [String: String] {
        let form = #/[ \t]*(?:export[ \t]+)?(COMPOSE_(?:FILE|PATH_SEPARATOR|PROJECT_NAME))[ \t]*=(.*)/#.byScalar
        var variables: [String: String] = [:]
        for line in (try? String(contentsOfFile: file, encoding: .utf8))?.lines ?? [] {
            guard let entry = line.wholeMatch(of: form) else { continue }
            variables[String(entry.1)] = try plain(entry.2, "the value of \(entry.1)", in: file)
        }
        return variables
    }

    /// The value of the key `name` in a compose file. Nil if the file does not have the key.
    private static func writtenName(in file: String) throws(Unknown) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw Unknown(description: "cannot read \(file); name the project with -p NAME")
        }
        let values = text.lines.compactMap { line in
            line.cut(at: ":").flatMap { $0.before.removing(prefix: "name")?.isBlank == true ? $0.after : nil }
        }
        guard let value = values.first else { return nil }
        let name = try plain(value, "the value of 'name'", in: file)
        guard isName(name) else {
            throw Unknown(
                description: "\(file): the value of 'name' is not a project name; name the project with -p NAME")
        }
        return name
    }

    /// A value without variables and escapes, quoted or not.
    /// - Throws: ``Unknown`` for another value.
    private static func plain(_ value: Substring, _ what: String, in file: String) throws(Unknown) -> String {
        let form = #/[ \t]*(["']?)([^"'$\\ \t#]*)\1[ \t]*(?:[ \t]#.*)?/#.byScalar
        guard let text = value.wholeMatch(of: form) else {
            throw Unknown(description: "\(file): \(what) is not a plain text; name the project with -p NAME")
        }
        return String(text.2)
    }
}
