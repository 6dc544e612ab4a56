internal import ArgumentParser
internal import Compose
internal import Foundation

/// Which project a command means, when no compose file is asked for by name.
struct ProjectOptions: ParsableArguments, Sendable {
    @Option(
        name: [.short, .customLong("project-name")],
        help: ArgumentHelp(
            "The project. Without it: the one that the compose file names, else its folder's name.", valueName: "name"))
    var project: String?

    /// - Parameter files: the compose files; without one, the folder's own say the name.
    /// - Throws: ``ComposeError``, ``ComposeFileError``.
    func resolve(files: [String] = []) throws -> Project {
        if let project { return try Project(name: ProjectName.resolve(flag: project, directory: "")) }
        let current = FileManager.default.currentDirectoryPath
        let files = files.isEmpty ? ComposeFile.find(in: current) : files
        guard let file = files.first else {
            return try Project(name: ProjectName.resolve(flag: nil, directory: current))
        }
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent().standardizedFileURL.path
        let name = try ComposeFile.projectName(in: files)
        return try Project(name: ProjectName.resolve(flag: nil, file: name, directory: directory))
    }
}
