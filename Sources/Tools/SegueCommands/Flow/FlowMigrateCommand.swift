internal import ArgumentParser
internal import FlowFiles
internal import Foundation
internal import Navigation
internal import SystemSupport

struct FlowMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Replace old forms of the flow language in a file.",
        discussion: """
            segue flow migrate config/flows/ios.yaml
            segue flow migrate - < old.yaml > new.yaml

            The old forms are those about which 'segue flow check' warns with [old-form] and [escaped-template]. \
            Comments and layout are kept. The file is written only if the new flow has the meaning of the old one.
            """)

    @Argument(help: FlowFile.help)
    var file: String

    func run() async throws {
        let file = try FlowFile(file)
        let migration = try FlowMigration(of: FlowReading(yaml: file.text, file: file.name))
        guard self.file != "-" else { return try await Console.output.write(migration.yaml) }
        guard !migration.changes.isEmpty else {
            return try await Console.output.writeLine("\(file.name) has no old forms")
        }
        do {
            let mode = (try? FileManager.default.attributesOfItem(atPath: self.file)[.posixPermissions]) as? UInt32
            try AtomicFile(self.file, mode: mode ?? 0o644).replace(with: Data(migration.yaml.utf8))
        } catch {
            throw CommandError(
                code: "unwritable-file", "\(file.name) cannot be written: \(error)", recovery: "check its permissions",
                status: .ioError)
        }
        for change in migration.changes { try await Console.output.writeLine(change.description) }
    }
}
