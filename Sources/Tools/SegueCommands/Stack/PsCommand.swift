package import ArgumentParser
internal import Compose
internal import Foundation

package struct PsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Tells how a project's services are.")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json
    }

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Those that have ended, too.")
    var all = false

    @Option(help: "How to print them.")
    var format = Format.table

    @Flag(help: "One JSON object a line, as --format json.")
    var json = false

    package init() {}

    package func run() async throws {
        let project = try project.resolve(files: files.files)
        guard let status = try ProjectStatus.read(project) else {
            throw CommandError(
                code: "no-project", "project '\(project.name)' was never started here",
                recovery: "start it with 'segue up', or name another one with -p")
        }
        let rows = status.services.map { ServiceRow($0, isSupervised: status.isSupervisorAlive) }
        try await print(rows.filter { all || !$0.hasEnded })
        if !status.isSupervisorAlive, rows.contains(where: { !$0.hasEnded }) {
            await Console.error.tell(
                "nobody supervises project '\(project.name)' any more; 'segue up' or 'segue down' ends these")
        }
    }

    private func print(_ rows: [ServiceRow]) async throws {
        if json || format == .json {
            for row in rows { try await Console.output.writeLine(JSONLine.text(row)) }
            return
        }
        var table = Table("SERVICE", "STATE", "PID", "RESTARTS", "UPTIME", "NOTE")
        for row in rows {
            table.append(
                row.service, row.state.rawValue, row.pid.map(String.init) ?? "-", String(row.restarts),
                row.uptime(at: Date()) ?? "-", row.note ?? "")
        }
        for line in table.lines { try await Console.output.writeLine(line) }
    }
}
