internal import ArgumentParser
internal import Foundation
internal import Scaffold

/// Where something new belongs, and how it is told.
struct NewOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder of messages. Without it: the one below Sources that is called Vocabulary.", valueName: "folder")
    )
    var vocabulary: String?

    @Flag(help: "Only tell what would be written.")
    var dryRun = false

    /// - Throws: ``ScaffoldError``.
    func package() throws -> PackageLayout {
        try PackageLayout(around: FileManager.default.currentDirectoryPath, vocabulary: vocabulary)
    }

    /// - Throws: ``ScaffoldError`` when a file is there already.
    func write(_ scaffold: Scaffold, to package: PackageLayout) async throws {
        try dryRun ? scaffold.check(in: package.root) : scaffold.write(to: package.root)
        for path in scaffold.files.keys.sorted() {
            try await Console.output.writeLine("\(scaffold.changed.contains(path) ? "changed" : "made") \(path)")
        }
        await Console.error.tell(scaffold.notes)
    }
}
