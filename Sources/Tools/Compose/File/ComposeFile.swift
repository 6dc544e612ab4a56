import Foundation

/// Reads stacks from YAML files of the compose specification.
package struct ComposeFile: Sendable {
    package let path: String
    package let stack: Stack
    /// Variables that the file refers to, are not set and have no default; each was taken as empty.
    package let unsetVariables: [String]

    /// - Parameter environment: what `${…}` refers to.
    /// - Throws: ``ComposeFileError`` with every mistake; ``ComposeError`` when the file cannot be read.
    package init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL.path
        try self.init(text: Self.text(of: path), path: path, directory: directory, environment: environment)
    }

    /// - Parameters:
    ///   - path: what mistakes name as their file.
    ///   - directory: where relative working directories start.
    package init(text: String, path: String, directory: String, environment: [String: String]) throws {
        var reader = ComposeReader(file: path, environment: environment)
        stack = try reader.read(text, directory: directory)
        unsetVariables = reader.interpolation.unset.sorted()
        self.path = path
    }

    /// The project's name that a file gives, if it does. To stop a stack or to watch it, the rest of its file need not
    /// be right, nor the variables set that it requires.
    ///
    /// - Throws: as the initialiser does.
    package static func projectName(
        in path: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String? {
        var reader = ComposeReader(file: path, environment: environment)
        return try reader.readName(text(of: path))
    }

    private static func text(of path: String) throws(ComposeError) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ComposeError(
                code: "compose-file-unreadable",
                message: "cannot read the compose file \(path)",
                recovery: "name an existing file with -f"
            )
        }
    }

    /// The first of the usual names that exists in a folder, as `docker compose` looks for it; then the default of a
    /// folder that has several stacks.
    package static func find(in directory: String) -> String? {
        ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "compose/default.yaml"]
            .map { directory + "/" + $0 }
            .first { FileManager.default.fileExists(atPath: $0) }
    }
}
