internal import ArgumentParser
internal import Compose
internal import Foundation

/// Which compose file a command reads.
struct ComposeFileOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: ArgumentHelp(
            "The compose file. Without it: compose.yaml or compose/default.yaml in this folder.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    func validate() throws {
        // The parser would silently take the last of several.
        guard files.count <= 1 else { throw ValidationError("-f is given \(files.count) times; one file is read") }
    }

    var file: String? { files.first }

    /// The file that is named, or else found in the working directory.
    /// - Throws: ``CommandError`` when there is none.
    func path() throws -> String {
        if let file { return file }
        guard let path = ComposeFile.find(in: ".") else {
            throw CommandError(
                code: "no-compose-file", "there is no compose file in \(FileManager.default.currentDirectoryPath)",
                recovery: "name one with -f FILE", status: .noInput)
        }
        return String(path.dropFirst("./".count))
    }
}
