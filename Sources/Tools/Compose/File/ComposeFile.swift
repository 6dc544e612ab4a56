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
        let url = URL(fileURLWithPath: path)
        let text: String
        do {
            text = try String(contentsOf: url, encoding: .utf8)
        } catch {
            throw ComposeError(
                code: "compose-file-unreadable",
                message: "cannot read the compose file \(path)",
                recovery: "name an existing file with -f"
            )
        }
        let directory = url.deletingLastPathComponent().standardizedFileURL.path
        try self.init(text: text, path: path, directory: directory, environment: environment)
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

    /// The first of the usual names that exists in a folder, as `docker compose` looks for it.
    package static func find(in directory: String) -> String? {
        ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"]
            .map { directory + "/" + $0 }
            .first { FileManager.default.fileExists(atPath: $0) }
    }
}
